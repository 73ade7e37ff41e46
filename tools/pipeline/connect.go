package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// fetchTool is the tool whose denials hold for connections, too.
const fetchTool = "web_fetch"

// maxConnectTitle bounds the title of the question, in runes.
const maxConnectTitle = 200

// connections are what the commands of one call may connect to, as far as that is known.
// The zero value is ready.
type connections struct {
	mu    sync.Mutex
	asked map[string]*connection
}

// connection is the answer about one host and port.
type connection struct {
	done chan struct{} // closed when err is set
	err  error
}

// of returns the answer about a destination. first says that the caller has to find it.
func (c *connections) of(key string) (answer *connection, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, known := c.asked[key]; known {
		return answer, false
	}
	if c.asked == nil {
		c.asked = map[string]*connection{}
	}
	answer = &connection{done: make(chan struct{})}
	c.asked[key] = answer
	return answer, true
}

// connect decides whether the call's commands may connect to a host, and asks the user where
// no rule says. However many connections there are, the host is asked about once.
func (r *running) connect(ctx context.Context, to egress.Destination) error {
	answer, first := r.connections.of(to.Pair() + " " + to.Private)
	if first {
		answer.err = r.mayConnect(ctx, to)
		close(answer.done)
	}
	select {
	case <-answer.done:
		return answer.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// mayConnect finds the answer about a host.
func (r *running) mayConnect(ctx context.Context, to egress.Destination) error {
	decision, err := r.judgeConnection(ctx, to)
	switch {
	case err != nil || decision.Action == capability.Allow:
		return err
	case r.pipeline.Asker == nil:
		return &egress.Refusal{Reason: "it is not allowed by a rule, and no user is here who could allow it"}
	}
	limit := r.pipeline.Limits.ConnectAsk
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errNoAnswer)
		defer cancel()
	}
	defer r.pipeline.Session.AwaitUser(ctx)()
	err = tools.InLine(ctx, r.pipeline.Line, r.ID, func(asking context.Context) error {
		// An answer given while this question waited may have settled it (R123).
		decision, err := r.judgeConnection(ctx, to)
		if err != nil || decision.Action == capability.Allow {
			return err
		}
		return r.askConnection(asking, to, decision)
	})
	if _, refused := errors.AsType[*egress.Refusal](err); err != nil && !refused && errors.Is(context.Cause(ctx), errNoAnswer) {
		return &egress.Refusal{Reason: fmt.Sprintf("the user did not answer within %v", limit)}
	}
	return err
}

// errNoAnswer is the cause of a question's end for want of an answer.
var errNoAnswer = errors.New("no answer in time")

// judgeConnection asks the rules. What web_fetch may not reach, no command may. A denial is a
// *egress.Refusal.
func (r *running) judgeConnection(ctx context.Context, to egress.Destination) (permissions.Decision, error) {
	rules := r.pipeline.Policy.Rules()
	fetch := r.pipeline.ruleCall(r.Prepared)
	fetch.Tool, fetch.Aliases, fetch.Capabilities = fetchTool, nil, []string{capability.CapNetFetch}
	fetch.Resources = []permissions.Resource{hostResource(to.Host)}
	connect := fetch
	connect.Tool = permissions.NetworkTool
	connect.Resources = []permissions.Resource{connectionResource(to)}
	decision := rules.Decide(connect)
	for _, d := range []permissions.Decision{rules.Decide(fetch), decision} {
		if d.Action == capability.Deny {
			return d, &egress.Refusal{Reason: d.Reason}
		}
	}
	if r.pipeline.Watchdog != nil {
		watched := r.watched()
		watched.Tool, watched.Resources, watched.Capabilities = fetchTool, fetch.Resources, fetch.Capabilities
		verdict, err := r.pipeline.Watchdog.Judge(ctx, watched)
		switch {
		case err != nil:
			return permissions.Decision{}, &egress.Refusal{Reason: "the watchdog failed: " + err.Error()}
		case verdict.Action == capability.Deny:
			return permissions.Decision{}, &egress.Refusal{Reason: verdict.Reason}
		case verdict.Action == capability.Ask:
			return permissions.Decision{Action: capability.Ask, Reason: verdict.Reason, NoAlways: "the watchdog asks each time"}, nil
		}
	}
	if to.Private != "" && decision.Rule != nil && decision.Action == capability.Allow && (decision.Rule.Pattern == "" || strings.Trim(decision.Rule.Pattern, "*") == "") {
		// A rule for every host does not mean this machine and its neighbours.
		decision.Action, decision.Reason = capability.Ask, "it is not on the public web"
	}
	return decision, nil
}

// connectionResource is a host and port as rules name it; the port is left out where it is
// that of https.
func connectionResource(to egress.Destination) permissions.Resource {
	resource := hostResource(to.Host)
	resource.Requested = append(resource.Requested, to.Host)
	if resource.Name = to.Pair(); to.Port == 443 {
		resource.Name = to.Host
	}
	return resource
}

// askConnection puts the question about a host, with the command beside it.
func (r *running) askConnection(ctx context.Context, to egress.Destination, d permissions.Decision) error {
	card := r.card
	card.Title = kinds.Line("Connect to "+shownPair(to), maxConnectTitle)
	card.Locations, card.Content = nil, nil
	reason := "the command reaches for " + to.Pair()
	if to.Private != "" {
		reason += ", which is not on the public web (" + private(to) + ")"
	}
	if d.NoAlways != "" {
		reason += "; " + d.Reason
	}
	remember := ""
	if len(d.Always) > 0 {
		remember = "connections to " + shownPair(to)
	}
	r.sink.Emit(transcript.ToolState{CallID: r.ID, State: transcript.BlockedOnUser, Reason: reason})
	defer r.sink.Emit(transcript.ToolState{CallID: r.ID, State: transcript.InProgress})
	answer, err := r.question(ctx, tools.PermissionRequest{
		CallID: r.ID, Name: r.Name,
		Ready:  transcript.ToolReady{CallID: r.ID, Tool: r.Tool, Input: r.Input, Args: r.Args, Card: r.redactedCard(card)},
		Reason: r.clean(reason), Remember: remember, NoAlways: d.NoAlways, Agents: r.pipeline.Names,
		Project: remember != "" && r.pipeline.Session.StoresRules(), Sandbox: r.sandbox(ctx),
	})
	if err != nil {
		return err
	}
	return r.applyConnection(answer, to, d)
}

// applyConnection does what the user answered about a host (R123).
func (r *running) applyConnection(answer tools.Answer, to egress.Destination, d permissions.Decision) error {
	switch answer {
	case tools.AllowOnce:
		return nil
	case tools.AllowAlways:
		r.pipeline.Policy.Remember(d.Always...)
		return nil
	case tools.AllowProject:
		if err := r.pipeline.Session.StoreRules(stamped(d.Always)); err != nil {
			r.notKept(d.Always, err)
		}
		return nil
	case tools.RejectAlways:
		r.pipeline.Policy.Remember(permissions.Rule{
			Permission: permissions.NetworkTool, Pattern: connectionResource(to).Name, Action: capability.Deny, Source: SourceAnswer,
		})
	}
	return &egress.Refusal{Reason: "the user does not allow it"}
}

// shownPair is host and port as people read it.
func shownPair(to egress.Destination) string {
	if to.Port == 443 {
		return to.Host
	}
	return to.Pair()
}

// private says what kind of address a host is, and where its name leads.
func private(to egress.Destination) string {
	if to.Addr.IsValid() {
		return to.Private + ", " + to.Addr.String()
	}
	return to.Private
}

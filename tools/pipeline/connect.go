package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// connections decides which hosts the commands of one call may connect to, and remembers the answers. It is
// safe for concurrent use.
type connections struct {
	*sharedState
	watchdog   *watchdogCheck
	sandboxing *sandboxing

	mu sync.Mutex
	// asked has the answers about hosts and logins, by what they are about.
	asked map[string]*hostAnswer
	// groups has the answers about the hosts of package managers, by the name of the manager. Only
	// the open question uses it.
	groups map[string]HostDecision
	// later has what was recorded of the hosts that a job reached for.
	later map[string]bool
}

// hostAnswer is the answer about one host and port, or about one login there.
type hostAnswer struct {
	done chan struct{} // closed when err is set
	err  error
}

// answerTo returns the answer to a question, which may still be open. first says that no one has asked it before: the
// caller finds the answer and closes done.
func (c *connections) answerTo(key string) (answer *hostAnswer, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, known := c.asked[key]; known {
		return answer, false
	}
	if c.asked == nil {
		c.asked = map[string]*hostAnswer{}
	}
	answer = &hostAnswer{done: make(chan struct{})}
	c.asked[key] = answer
	return answer, true
}

// connect decides whether the call's commands may connect to a host, and asks the user when no rule
// decides. It asks about each host once, however many connections there are.
func (c *connections) connect(ctx context.Context, to egress.Destination) error {
	return c.once(ctx, to.Pair()+" "+to.Private+" "+to.Addr.String(), func() error {
		final := c.decide(ctx, inquiry{
			judge: func(ctx context.Context) (permissions.Decision, error) { return c.judgeConnection(ctx, to) },
			ask: func(ctx context.Context, d permissions.Decision) HostDecision {
				return c.askConnection(ctx, to, d)
			},
		})
		c.recordHost(final.Record(to))
		return final.Err
	})
}

// once returns what decide returned for the first caller with this key; all others wait for that.
func (c *connections) once(ctx context.Context, key string, decide func() error) error {
	answer, first := c.answerTo(key)
	if first {
		answer.err = decide()
		close(answer.done)
	}
	select {
	case <-answer.done:
		return answer.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// connectLater decides for a job, whose call has ended: it asks no one.
func (c *connections) connectLater(ctx context.Context, to egress.Destination) error {
	decision, err := c.judgeConnection(ctx, to)
	final := HostDecision{Err: err, By: decidedBy(decision)}
	if err == nil && decision.Action != capability.Allow {
		final.By, final.Err = ByNoOne, &egress.Refusal{Reason: "no rule allows it, and for a command in the background no one is asked; " +
			"a connection that the user allows for the session to a command in the foreground is allowed to it, too"}
	}
	if c.firstLater(fmt.Sprint(to.Pair(), " ", final.By, " ", final.Err != nil)) {
		c.recordHost(final.Record(to))
	}
	return final.Err
}

// firstLater reports whether a decision about a host is to be recorded: a job may connect any number of times, so each
// decision is recorded once, and only so many.
func (c *connections) firstLater(decision string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.later[decision] || len(c.later) >= maxTouched {
		return false
	}
	if c.later == nil {
		c.later = map[string]bool{}
	}
	c.later[decision] = true
	return true
}

// inquiry finds the answer about something that a command reaches for.
type inquiry struct {
	// judge asks the rules and the watchdog; a denial is its error.
	judge func(ctx context.Context) (permissions.Decision, error)
	// ask asks the user, where judge gave neither yes nor no.
	ask func(ctx context.Context, d permissions.Decision) HostDecision
}

// errNoAnswer is the cause when a question ends without an answer.
var errNoAnswer = errors.New("no answer in time")

// decide finds the answer to an inquiry: from the rules, the watchdog, or the user.
func (c *connections) decide(ctx context.Context, about inquiry) HostDecision {
	decision, err := about.judge(ctx)
	switch {
	case err != nil || decision.Action == capability.Allow:
		return HostDecision{Err: err, By: decidedBy(decision)}
	case c.pipeline.Asker == nil:
		return HostDecision{Err: &egress.Refusal{Reason: "it is not allowed by a rule, and no user is here who could allow it"}, By: ByNoOne}
	}
	limit := c.pipeline.Limits.ConnectAsk
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errNoAnswer)
		defer cancel()
	}
	defer c.pipeline.Session.AwaitUser(ctx)()
	final := HostDecision{By: ByWithdrawn}
	err = tools.AskInTurn(ctx, c.pipeline.Queue, c.ID, func(asking context.Context) error {
		// An answer given while this question waited may decide (R123).
		decision, err := about.judge(ctx)
		if err != nil || decision.Action == capability.Allow {
			final = HostDecision{Err: err, By: decidedBy(decision)}
			return err
		}
		final = about.ask(asking, decision)
		return final.Err
	})
	final.Err = err
	if _, refused := errors.AsType[*egress.Refusal](err); err != nil && !refused && errors.Is(context.Cause(ctx), errNoAnswer) {
		return HostDecision{Err: &egress.Refusal{Reason: fmt.Sprintf("the user did not answer within %v", limit)}, By: ByTimeout}
	}
	return final
}

// decidedBy names the rule, or the watchdog, that decided about a host.
func decidedBy(d permissions.Decision) string {
	if d.Layer == permissions.LayerWatchdog {
		return byWatchdog
	}
	return ruleName(d)
}

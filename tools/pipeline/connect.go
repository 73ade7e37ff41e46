package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// fetchTool is the tool whose denials apply to connections, too.
const fetchTool = "web_fetch"

// maxConnectTitle bounds the title of the question, in runes. Any host is whole: its end says whose it is.
const maxConnectTitle = 300

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

// firstLater reports a decision about a host that was not recorded yet: a job may connect any number of times.
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

// errNoAnswer is the cause when a question ends without an answer.
var errNoAnswer = errors.New("no answer in time")

// judgeConnection asks the rules, then the watchdog. What web_fetch may not reach, no command may. A denial is a
// *egress.Refusal.
func (c *connections) judgeConnection(ctx context.Context, to egress.Destination) (permissions.Decision, error) {
	rules := c.pipeline.Policy.Rules()
	fetch := c.pipeline.ruleCall(c.Prepared)
	fetch.Tool, fetch.Aliases, fetch.Capabilities = fetchTool, nil, []string{capability.CapNetFetch}
	fetch.Resources = []permissions.Resource{hostResource(namedForRules(to).Host)}
	connect := fetch
	connect.Tool = permissions.NetworkTool
	connect.Resources = []permissions.Resource{connectionResource(to)}
	decision := rules.Decide(connect)
	for _, d := range []permissions.Decision{rules.Decide(fetch), decision} {
		if d.Action == capability.Deny {
			return d, &egress.Refusal{Reason: d.Reason}
		}
	}
	if c.pipeline.Watchdog != nil {
		watched := c.watchdog.watched(ctx)
		watched.Tool, watched.Resources, watched.Capabilities = fetchTool, fetch.Resources, fetch.Capabilities
		verdict, err := c.pipeline.Watchdog.Judge(ctx, watched)
		switch {
		case err != nil:
			return permissions.Decision{Layer: permissions.LayerWatchdog}, &egress.Refusal{Reason: "the watchdog failed: " + err.Error()}
		case verdict.Action == capability.Deny:
			return permissions.Decision{Layer: permissions.LayerWatchdog}, &egress.Refusal{Reason: verdict.Reason}
		case verdict.Action == capability.Ask:
			return permissions.Decision{Action: capability.Ask, Reason: verdict.Reason, NoAlways: "the watchdog asks each time"}, nil
		}
	}
	switch {
	case decision.Action != capability.Allow || decision.Rule == nil:
	case byProjectFile(decision):
		decision.Action, decision.Reason = capability.Ask, "a project's file opens no host"
	case to.Private != "" && !byUserForHost(decision):
		decision.Action, decision.Reason = capability.Ask, "it is not on the public web"
	}
	return decision, nil
}

// namedForRules returns a destination under the name that rules must use: its address, if its name leads to one
// that is not public. The owner of a name chooses its addresses, so a rule for the name must not
// open this machine and its neighbours.
func namedForRules(to egress.Destination) egress.Destination {
	if to.Addr.IsValid() {
		to.Host = to.Addr.String()
	}
	return to
}

// byProjectFile reports whether a decision rests on a rule in a project's file, and not on an answer of
// the user's that was stored for the project.
func byProjectFile(d permissions.Decision) bool {
	return d.Scope == permissions.Project && d.Rule.Source != permissions.SourceAlways
}

// byUserForHost reports whether a decision rests on a rule of the user's for exactly this host. A rule for
// many hosts does not open this machine and its neighbours.
func byUserForHost(d permissions.Decision) bool {
	return d.Scope >= permissions.User && d.Rule.Pattern != "" && !strings.Contains(d.Rule.Pattern, "*")
}

// connectionResource returns host and port in the form of rules, which leaves out port 443.
func connectionResource(to egress.Destination) permissions.Resource {
	to = namedForRules(to)
	resource := hostResource(to.Host)
	resource.Requested = append(resource.Requested, to.Host)
	if resource.Name = to.Pair(); to.Port == 443 {
		resource.Name = to.Host
	}
	return resource
}

// askConnection asks the user about a host, on the card of the command. It asks about all hosts of a package
// manager at once.
func (c *connections) askConnection(ctx context.Context, to egress.Destination, d permissions.Decision) HostDecision {
	group := c.groupOf(to, d)
	if final, known := c.groups[group.manager]; known && group.manager != "" {
		return final
	}
	where := shownPair(to)
	if group.manager != "" {
		where = fmt.Sprintf("the %d hosts of %s", len(group.hosts), group.manager)
	}
	reason := c.reaching() + " reaches for " + to.Pair()
	if to.Private != "" {
		reason += ", which is not on the public web (" + privateText(to) + ")"
	}
	if group.manager != "" {
		reason += ", and your settings give " + group.manager + " these hosts: " + strings.Join(group.hosts, ", ")
	}
	if d.NoAlways != "" {
		reason += "; " + d.Reason
	}
	remember := ""
	if len(d.Always) > 0 {
		remember = "connections to " + strings.Join(group.hosts, ", ")
	}
	answer, err := c.askOnCard(ctx, "Connect to "+where, tools.PermissionRequest{
		Reason: reason, Remember: remember, NoAlways: d.NoAlways, Project: remember != "" && c.pipeline.Session.StoresRules(),
	})
	if err != nil {
		return HostDecision{Err: err, By: ByWithdrawn}
	}
	final := Answered(answer, c.apply(answer, permissions.NetworkTool, group, d))
	if group.manager != "" {
		if c.groups == nil {
			c.groups = map[string]HostDecision{}
		}
		c.groups[group.manager] = final
	}
	return final
}

// reaching names what connects: the command of the call, or its tool, if that runs another program.
func (c *connections) reaching() string {
	if len(c.commands()) > 0 {
		return "the command"
	}
	return c.Name
}

// askOnCard asks the user about what the command reaches for, on the card of the command.
func (c *connections) askOnCard(ctx context.Context, title string, question tools.PermissionRequest) (tools.Answer, error) {
	c.sink.Emit(transcript.ToolState{CallID: c.ID, State: transcript.BlockedOnUser, Reason: question.Reason})
	defer c.sink.Emit(transcript.ToolState{CallID: c.ID, State: transcript.InProgress})
	card := c.card
	card.Title = kinds.Line(title, maxConnectTitle)
	card.Locations, card.Content = nil, nil
	question.CallID, question.Name, question.Agents = c.ID, c.Name, c.pipeline.Names
	question.Ready = transcript.ToolReady{CallID: c.ID, Tool: c.Tool, Input: c.Input, Args: c.Args, Card: c.redactedCard(card)}
	question.Reason, question.Sandbox = c.clean(question.Reason), c.sandboxing.describe(ctx)
	return c.hostQuestion(ctx, question)
}

// hostQuestion is [sharedState.question] for a host or a login there. Its end is recorded, too: it may come without an
// answer, while the call goes on, and a replay cannot know when.
func (c *connections) hostQuestion(ctx context.Context, request tools.PermissionRequest) (tools.Answer, error) {
	c.recordQuestion(hostQuestionStep, request)
	answer, err := c.pipeline.Asker.Ask(ctx, request)
	c.recordHostQuestionOver(ctx)
	return answer, err
}

// hostGroup is the hosts of one question.
type hostGroup struct {
	// manager is the package manager that uses the hosts; "" for a single host.
	manager string
	// hosts are in the form of rules.
	hosts []string
}

// groupOf returns the hosts that share the question about a host. There is a question of its own for an address,
// a name of this machine, and a host that the watchdog asks about.
func (c *connections) groupOf(to egress.Destination, d permissions.Decision) hostGroup {
	alone := hostGroup{hosts: []string{connectionResource(to).Name}}
	if to.Private != "" || len(d.Always) != 1 {
		return alone
	}
	for _, m := range c.pipeline.Session.PackageHosts(c.pipeline.Workspace.Session().Roots) {
		names := slices.DeleteFunc(slices.Clone(m.Hosts), egress.NamesAddress)
		if len(names) > 1 && slices.Contains(names, alone.hosts[0]) {
			return hostGroup{manager: m.Name, hosts: names}
		}
	}
	return alone
}

// rules returns the rules that an answer about a group stores: the given ones, for each of its hosts.
func (g hostGroup) rules(about ...permissions.Rule) []permissions.Rule {
	var rules []permissions.Rule
	for _, rule := range about {
		for _, host := range g.hosts {
			rule.Pattern = host
			rules = append(rules, rule)
		}
	}
	return rules
}

// apply applies the user's answer about the hosts of a group (R123), for the permission that was asked about.
func (c *connections) apply(answer tools.Answer, permission string, group hostGroup, d permissions.Decision) error {
	switch answer {
	case tools.AllowOnce:
		return nil
	case tools.AllowAlways:
		c.pipeline.Policy.Remember(group.rules(d.Always...)...)
		return nil
	case tools.AllowProject:
		c.storeForProject(group.rules(d.Always...))
		return nil
	case tools.RejectAlways:
		c.pipeline.Policy.Remember(group.rules(permissions.Rule{
			Permission: permission, Action: capability.Deny, Source: SourceAnswer,
		})...)
	}
	return &egress.Refusal{Reason: "the user does not allow it"}
}

// shownPair returns host and port for a card, which leaves out port 443.
func shownPair(to egress.Destination) string {
	if to.Port == 443 {
		return to.Host
	}
	return to.Pair()
}

// privateText describes the address of a host that is not public.
func privateText(to egress.Destination) string {
	if to.Addr.IsValid() {
		return to.Private + ", " + to.Addr.String()
	}
	return to.Private
}

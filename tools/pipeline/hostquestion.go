package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// maxConnectTitle bounds the title of the question, in runes. Any host is whole: its end says whose it is.
const maxConnectTitle = 300

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
	question.Ready = transcript.ToolReady{CallID: c.ID, Tool: c.Tool, Input: c.Input, Args: c.Args, Card: c.redactCard(card)}
	question.Reason, question.Sandbox = c.redact(question.Reason), c.sandboxing.describe(ctx)
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

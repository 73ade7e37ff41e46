package pipeline

import (
	"context"
	"fmt"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// login returns the user's login for a host that git in the call's commands wants to log in to, if the user
// gives it. From then on, the password is removed from what calls show.
func (e *execution) login(ctx context.Context, want egress.Login) (egress.Login, error) {
	err := e.connections.connect(ctx, want.To)
	if err == nil {
		err = e.connections.mayLogIn(ctx, "git", want)
	}
	if err != nil {
		return egress.Login{}, err
	}
	login, err := e.runtime.Commands().StoredLogin(ctx, want)
	if err == nil {
		e.pipeline.Keys.Add(login.Password)
	}
	return login, err
}

// logInToGitHub gives gh in the call's commands the token that the user's own gh has, if the user gives it: gh looks for
// one in its environment when it starts, and asks for none later. A command that gets none runs without it.
func (e *execution) logInToGitHub(ctx context.Context) error {
	commands := e.runtime.Commands()
	if !e.access.gitHub || commands.HasGitHubToken() || !commands.UsesProxy(ctx) {
		return nil
	}
	if e.access.besideGitHub {
		e.remarks = append(e.remarks, "gh got no login, because other programs of this command would have had it, too. Run gh by itself, or with commands that only read.")
		return nil
	}
	err := e.connections.mayLogIn(ctx, "gh", egress.Login{Scheme: "https", To: egress.Destination{Host: run.GitHubHost, Port: 443}})
	if err != nil {
		return context.Cause(ctx)
	}
	token, err := commands.SetGitHubToken(ctx)
	if err != nil {
		return context.Cause(ctx)
	}
	e.pipeline.Keys.Add(token)
	return nil
}

// mayLogIn decides whether the call's commands get the login for a host that a program of the user's keeps.
func (c *connections) mayLogIn(ctx context.Context, program string, want egress.Login) error {
	return c.once(ctx, strings.Join([]string{"login", program, want.Scheme, want.To.Pair()}, " "), func() error {
		decision := c.decide(ctx, inquiry{
			judge: func(context.Context) (permissions.Decision, error) { return c.judgeLogin(want) },
			ask: func(ctx context.Context, d permissions.Decision) HostDecision {
				return c.askLogin(ctx, program, want, d)
			},
		})
		record := decision.Record(want.To)
		if record.Reason = "the command gets the user's login for the host"; decision.Err != nil {
			record.Reason = "the command does not get the user's login for the host"
		}
		c.recordHost(record)
		return decision.Err
	})
}

// judgeLogin asks the rules. Only a rule about logins gives one: no mode, and no rule that allows everything or the
// network.
func (c *connections) judgeLogin(want egress.Login) (permissions.Decision, error) {
	call := c.pipeline.ruleCall(c.Prepared)
	call.Tool, call.Aliases, call.Capabilities = permissions.LoginTool, nil, []string{capability.CapNetFetch}
	call.Resources = []permissions.Resource{connectionResource(want.To)}
	d := c.pipeline.Policy.Rules().Decide(call)
	switch {
	case d.Action == capability.Deny:
		return d, &egress.Refusal{Reason: d.Reason}
	case d.Action == capability.Allow && !givesLogin(d):
		d.Action, d.Reason = capability.Ask, "no rule of the user's gives this login"
	}
	return d, nil
}

// givesLogin reports whether a decision rests on a rule or an answer of the user's about logins.
func givesLogin(d permissions.Decision) bool {
	return d.Rule != nil && d.Rule.Permission == permissions.LoginTool && d.Scope >= permissions.User && !byProjectFile(d)
}

// askLogin asks the user about a login, on the card of the command.
func (c *connections) askLogin(ctx context.Context, program string, want egress.Login, d permissions.Decision) HostDecision {
	where := shownPair(want.To)
	reason := fmt.Sprintf("%[1]s in the command logs in to %[2]s; the login that your %[1]s keeps for it goes to the command and to what it starts", program, where)
	if want.Scheme != "https" {
		reason += ", and unencrypted over the network"
	}
	remember := ""
	if len(d.Always) > 0 {
		remember = "your login for " + where
	}
	answer, err := c.askOnCard(ctx, "Use your login for "+where, tools.PermissionRequest{Reason: reason, Remember: remember, NoAlways: d.NoAlways})
	if err != nil {
		return HostDecision{Err: err, By: ByWithdrawn}
	}
	return Answered(answer, c.apply(answer, permissions.LoginTool, hostGroup{hosts: []string{connectionResource(want.To).Name}}, d))
}

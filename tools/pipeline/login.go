package pipeline

import (
	"context"
	"fmt"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/permissions"
	"acp-agent/tools"
)

// login returns the user's login for a host that git in the call's commands wants to log in to, if the user
// gives it. From then on, the password is removed from what calls show.
func (e *execution) login(ctx context.Context, want egress.Login) (egress.Login, error) {
	if err := e.connections.mayLogIn(ctx, want); err != nil {
		return egress.Login{}, err
	}
	login, err := e.runtime.Commands().StoredLogin(ctx, want)
	if err == nil {
		e.pipeline.Keys.Add(login.Password)
	}
	return login, err
}

// mayLogIn decides whether the call's commands get the user's login for a host. They must be allowed to connect to
// it, too.
func (c *connections) mayLogIn(ctx context.Context, want egress.Login) error {
	if err := c.connect(ctx, want.To); err != nil {
		return err
	}
	return c.once(ctx, "login "+want.Scheme+" "+want.To.Pair(), func() error {
		decision := c.decide(ctx, inquiry{
			judge: func(context.Context) (permissions.Decision, error) { return c.judgeLogin(want) },
			ask: func(ctx context.Context, d permissions.Decision) HostDecision {
				return c.askLogin(ctx, want, d)
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
func (c *connections) askLogin(ctx context.Context, want egress.Login, d permissions.Decision) HostDecision {
	where := shownPair(want.To)
	reason := fmt.Sprintf("git in the command logs in to %s; the user name and the password that your git keeps for it go to the command and to what it starts", where)
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

package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/internal/egress"
	"acp-agent/internal/redact"
	"acp-agent/kinds"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// storedLogin is a login that a program of the user's keeps.
type storedLogin struct {
	egress.Login
	// program is "git" or "gh", permission the name under which rules speak of its logins.
	program, permission string
	// repository is what the login is for, in words for a card; "" says nothing of it.
	repository string
}

// login returns the user's login for a host that git in the call's commands wants to log in to, if the user
// gives it. From then on, the password is removed from what the model is shown.
func (e *execution) login(ctx context.Context, want egress.Login) (egress.Login, error) {
	err := e.connections.connect(ctx, want.To)
	if err == nil {
		err = e.connections.mayLogIn(ctx, storedLogin{Login: want, program: "git", permission: permissions.GitLoginTool})
	}
	if err != nil {
		return egress.Login{}, err
	}
	login, err := e.runtime.Commands().StoredLogin(ctx, want)
	if err == nil {
		e.pipeline.Keys.Add(login.Password)
		if userIsKey(login) {
			e.pipeline.Keys.Add(login.User)
		}
	}
	return login, err
}

// userIsKey reports whether a login's name is its secret, as hosts take a token with any password.
func userIsKey(login egress.Login) bool {
	const least = 20 // of a token; names may be long, too, but have no digit then, or are addresses
	switch login.Password {
	case "x-oauth-basic", "x", "X":
		return true
	}
	token := len(login.User) >= least && redact.Distinct(login.User) && !strings.Contains(login.User, "@")
	return token || redact.Holds(login.User, nil)
}

// gitHubLogin returns the variables that give gh in the call's commands the token of the user's own gh, if the user gives
// it: gh looks for one in its environment when it starts, and asks for none later. A command that gets none runs without
// it.
func (e *execution) gitHubLogin(ctx context.Context) (env []string, err error) {
	commands := e.runtime.Commands()
	if !e.access.gitHub || e.inBackground() || commands.HasGitHubToken() || !commands.UsesProxy(ctx) {
		return nil, nil
	}
	if e.access.besideGitHub {
		e.remarks = append(e.remarks, noGitHubLogin(e.access.gitHubInstead))
		return nil, nil
	}
	if name := commands.ChangeableProgram(append([]string{"gh", "git", "ssh"}, strings.Fields(command.GitHubPrinters)...)); name != "" {
		e.remarks = append(e.remarks, "gh got no login, because "+name+" on the PATH lies where commands can write, or is a link that leads there.")
		return nil, nil
	}
	to := egress.Login{Scheme: "https", To: egress.Destination{Host: run.GitHubHost, Port: 443}}
	token := ""
	repository, shown := e.gitHubRepository()
	if err = e.connections.mayLogIn(ctx, storedLogin{to, "gh", permissions.GHLoginTool, shown}); err == nil {
		token, err = commands.GitHubToken(ctx)
	}
	if err != nil {
		return nil, context.Cause(ctx) // nil unless the call itself was stopped
	}
	e.pipeline.Keys.Add(token)
	env = slices.Concat(run.GitHubEnv(token), command.GitEnv())
	if repository != "" {
		env = append(env, run.GitHubRepositoryEnv(repository)) // what the card named, whatever the configuration says by now
	}
	return env, nil
}

// noGitHubLogin tells the model why gh got no login, and what to run instead.
func noGitHubLogin(instead string) string {
	if instead != "" {
		return "gh got no login, because this form of it starts git, which starts what the project configures, and that could have used it, too. Run " + instead + "."
	}
	return "gh got no login, because something else in this command could have used it, too. Run gh by itself, with all words written out, " +
		"or with " + strings.ReplaceAll(command.GitHubPrinters, " ", ", ") + "."
}

// inBackground reports whether the call's command becomes a job, which gets no login for gh: see run.Grant.LoginEnv.
func (e *execution) inBackground() bool {
	args, _ := e.args.Value() // no error: it was parsed before
	fields, _ := args.(map[string]any)
	return fields["background"] == true
}

// mayLogIn decides whether the call's commands get a login.
func (c *connections) mayLogIn(ctx context.Context, want storedLogin) error {
	return c.once(ctx, strings.Join([]string{want.permission, want.Scheme, want.To.Pair(), want.User}, " "), func() error {
		final := c.decide(ctx, inquiry{
			judge: func(ctx context.Context) (permissions.Decision, error) { return c.judgeLogin(ctx, want) },
			ask: func(ctx context.Context, d permissions.Decision) HostDecision {
				return c.askLogin(ctx, want, d)
			},
		})
		record := final.Record(want.To)
		if record.Reason = "the command gets the login that the user's " + want.program + " keeps for the host"; final.Err != nil {
			record.Reason = "the command does not get the login that the user's " + want.program + " keeps for the host"
		}
		c.recordHost(record)
		return final.Err
	})
}

// judgeLogin asks the rules, and what else may deny a connection to the host. Only a rule about logins gives one: no mode, and
// no rule that allows everything or the network. None gives one that would go over the network unencrypted.
func (c *connections) judgeLogin(ctx context.Context, want storedLogin) (permissions.Decision, error) {
	if d, err := c.judgeConnection(ctx, want.To); err != nil {
		return d, err
	}
	call := c.pipeline.ruleCall(c.Prepared)
	call.Tool, call.Aliases, call.Capabilities = want.permission, nil, []string{capability.CapNetFetch}
	call.Resources = []permissions.Resource{connectionResource(want.To)}
	d := c.pipeline.Policy.Rules().Decide(call)
	switch {
	case d.Action == capability.Deny:
		return d, &egress.Refusal{Reason: d.Reason}
	case want.Scheme != "https":
		d = permissions.Decision{Action: capability.Ask, NoAlways: "the login goes over the network unencrypted"}
	case d.Action == capability.Allow && !givesLogin(d, want.permission):
		d.Action, d.Reason = capability.Ask, "no rule of the user's gives this login"
	}
	// An answer was about the login that git finds by itself. A rule that the user wrote is for all users of the host.
	answered := d.Action == capability.Allow && d.Rule.Source == permissions.SourceAlways
	if want.User != "" && (answered || d.Action == capability.Ask && len(d.Always) > 0) {
		d = permissions.Decision{Action: capability.Ask, NoAlways: "the login of a user that the command names is asked about each time"}
	}
	return d, nil
}

// givesLogin reports whether a decision rests on a rule or an answer of the user's about logins.
func givesLogin(d permissions.Decision, permission string) bool {
	return d.Rule != nil && d.Rule.Permission == permission && d.Scope >= permissions.User && !byProjectFile(d)
}

// askLogin asks the user about a login, on the card of the command.
func (c *connections) askLogin(ctx context.Context, want storedLogin, d permissions.Decision) HostDecision {
	where := shownPair(want.To)
	whose := "the login"
	if want.User != "" {
		whose = "the login of " + kinds.Line(want.User, maxConnectTitle)
	}
	title, acts := "Use the login of your "+want.program+" for "+where, ""
	if want.repository != "" {
		title += ", " + want.repository
		acts = ", and acts " + want.repository
	}
	reason := fmt.Sprintf("%[1]s in the command logs in to %[2]s%[4]s; %[3]s that your %[1]s keeps for it goes to the command and to what it starts", want.program, where, whose, acts)
	if want.Scheme != "https" {
		reason += ", and unencrypted over the network"
	}
	remember := ""
	if len(d.Always) > 0 {
		remember = "the login of your " + want.program + " for " + where
	}
	answer, err := c.askOnCard(ctx, title, tools.PermissionRequest{Reason: reason, Remember: remember, NoAlways: d.NoAlways})
	if err != nil {
		return HostDecision{Err: err, By: ByWithdrawn}
	}
	return Answered(answer, c.apply(answer, want.permission, hostGroup{hosts: []string{connectionResource(want.To).Name}}, d))
}

package watchdog

import (
	"context"
	"path"
	"slices"
	"strings"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
)

// The names of the built-in policies.
const (
	// Bash is the reference policy of R121: it asks about writes outside the session's
	// directories, downloads, and changes of privilege, and denies what destroys the
	// system's own directories.
	Bash = "bash"
	// NoNetwork denies tools and commands that reach the network, and asks about
	// commands that cannot be understood before they run.
	NoNetwork = "no-network"
	// ReadOnly denies whatever may change a file or run a program, but for commands that
	// are known to only read.
	ReadOnly = "read-only"
)

// Policy is a built-in watchdog: a pure function of the call.
type Policy struct {
	Name  string
	judge func(Call) permissions.Decision
}

// Judge implements Watchdog. It never fails.
func (p Policy) Judge(_ context.Context, call Call) (permissions.Decision, error) {
	d := p.judge(call)
	if d.Reason != "" {
		d.Reason = "watchdog " + p.Name + ": " + d.Reason
	}
	return d, nil
}

// Policies are the built-in policies by name.
func Policies() map[string]Policy {
	return map[string]Policy{
		Bash:      {Bash, bash},
		NoNetwork: {NoNetwork, noNetwork},
		ReadOnly:  {ReadOnly, readOnly},
	}
}

func allow() permissions.Decision { return permissions.Decision{Action: capability.Allow} }

func ask(reason string) permissions.Decision {
	return permissions.Decision{Action: capability.Ask, Reason: reason}
}

func deny(reason string) permissions.Decision {
	return permissions.Decision{Action: capability.Deny, Reason: reason}
}

// worse is the stricter of two answers, of equal ones the first.
func worse(a, b permissions.Decision) permissions.Decision {
	if b.Action.Stricter(a.Action) {
		return b
	}
	return a
}

func noNetwork(call Call) permissions.Decision {
	if slices.Contains(call.Capabilities, capability.CapNetFetch) {
		return deny(call.Tool + " reaches the network")
	}
	for _, r := range call.Resources {
		if r.Kind == permissions.Host {
			return deny(call.Tool + " reaches the network: " + r.Name)
		}
	}
	answer := allow()
	for _, c := range call.Commands {
		verdict := command.Judge(c.Text, c.Env)
		if verdict.Network {
			return deny("the command reaches the network: " + c.Text)
		}
		for _, part := range verdict.Parts {
			if opaque(part) {
				answer = worse(answer, ask("it is not known before it runs whether the command reaches the network"))
			}
		}
	}
	if call.Foreign {
		answer = worse(answer, ask(call.Tool+" is not the agent's own, so it is not known whether it reaches the network"))
	}
	return answer
}

func readOnly(call Call) permissions.Decision {
	if call.Foreign {
		return deny(call.Tool + " is not the agent's own, so it is not known to only read")
	}
	if slices.Contains(call.Capabilities, capability.CapFSWrite) {
		return deny(call.Tool + " changes files")
	}
	for _, r := range call.Resources {
		switch {
		case r.Kind == permissions.Path && r.Capability == capability.CapFSWrite:
			return deny(call.Tool + " changes " + r.Name)
		case r.Kind == permissions.Program:
			return deny(call.Tool + " runs the program " + r.Name)
		}
	}
	for _, c := range call.Commands {
		if verdict := command.Judge(c.Text, c.Env); verdict.Action != capability.Allow {
			return deny("the command is not known to only read: " + verdict.Reason)
		}
	}
	if len(call.Commands) == 0 && slices.Contains(call.Capabilities, capability.CapShellRun) {
		return deny(call.Tool + " runs programs")
	}
	return allow()
}

// opaque reports a part of a command that is another program's text, or whose program is
// not known before it runs.
func opaque(p command.Part) bool {
	switch p.Class {
	case command.Unparsed, command.Ambiguous, command.Interpreter, command.Limits:
		return true
	}
	return len(p.Argv) > 0 && (strings.ContainsAny(p.Argv[0], "$`*?") || interpreter(p.Argv[0]))
}

// interpreter reports a program that runs a text in another language.
func interpreter(name string) bool {
	switch path.Base(name) {
	case "eval", "source", ".", "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "php", "lua", "osascript":
		return true
	}
	return false
}

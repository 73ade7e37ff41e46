package pipeline

import (
	"context"
	"path"
	"slices"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/permissions/command"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// reach is what the commands of a call need beyond the default sandbox.
type reach struct {
	network bool // of a command on the network table, or one that failed without it
	git     bool // some command is git
	// beside says that some command neither needs the network nor only reads.
	beside bool
	// missed is what the very same command failed for want of.
	missed run.Lacking
	// secrets are what a command that only reads must not read; unconfined says that
	// nothing keeps it from more.
	secrets    *run.SecretFiles
	unconfined bool
	// open counts the files of secrets that stay open to a command that does more.
	open int
	// again says that this alone is why the call is asked about.
	again bool
	// reads are the paths that the commands are known to read, and where they lead.
	reads []string
	// approved says that a user has seen the card and allowed the call.
	approved bool
}

// note adds what the command judge found.
func (w *reach) note(v command.Verdict) {
	w.network = w.network || v.Network
	for _, part := range v.Parts {
		w.reads = append(w.reads, part.Reads...)
		w.beside = w.beside || !part.Network && part.Action != capability.Allow
		if len(part.Argv) > 0 && path.Base(part.Argv[0]) == "git" {
			w.git = true
		}
	}
}

// besideReason is why commands are asked about that are each allowed by themselves.
const besideReason = "one of the commands was allowed with the network, and the others would get it with them"

// mayStayOpen reports whether an "always" may open the network to the very same commands
// from now on: none of them is one of which nothing is ever stored (E5).
func (r *running) mayStayOpen() bool {
	return r.reach.again && !slices.ContainsFunc(r.judged.Resources, func(resource permissions.Resource) bool {
		judged := resource.Judged
		return resource.Dynamic || judged != nil && judged.Action != capability.Allow && len(judged.Always) == 0
	})
}

// commands are the commands that the call runs.
func (r *running) commands() []tools.Resource {
	var commands []tools.Resource
	for _, resource := range r.touched {
		if resource.Kind == tools.Command {
			commands = append(commands, resource)
		}
	}
	return commands
}

// reading reports whether the call's commands run because they only read: no user has
// allowed more to them, now or for good.
func (r *running) reading() bool {
	return r.readsOnly && !r.reach.approved && r.lacksGranted() == run.Lacking{}
}

// grantSandbox tells the call's commands how far they may reach. A command has the
// network when a user allowed it on a card that said so, now or, by "always",
// before for this session or project; a program has it when its tool declares it. A
// command that runs unasked because it only reads can change nothing, nor can any in a
// mode that changes nothing.
func (r *running) grantSandbox(ctx context.Context) {
	granted, reading := r.lacksGranted(), r.reading()
	held := r.pipeline.readOnly() != nil
	grant := run.Grant{
		Network:   !r.entry.Requires.Net.IsZero(),
		GitConfig: r.reach.git && !r.readsOnly,
		Unasked:   !r.reach.approved,
		ReadsOnly: reading || r.entry.ReadOnly, Unattended: r.pipeline.Asker == nil || r.pipeline.restricted,
		Reading: reading || held, Held: held, Secrets: r.reach.secrets,
		Offline:  r.pipeline.restricted || reading,
		Bounded:  reading && r.decision.Rule == nil,
		Readable: r.readable(),
	}
	if len(r.commands()) > 0 {
		opened := r.reach.network && (r.reach.approved || !r.reach.beside && r.answeredBefore())
		grant.Network, grant.Packages = granted.Network || opened, opened
		if opened && !r.reach.missed.Network && r.pipeline.Workspace.Runner().Connects(ctx) {
			// Each host is asked about when it is reached for.
			grant.Network = granted.Network
		}
	}
	if !r.pipeline.restricted && !r.entry.ReadOnly {
		grant.Connect = r.connect
	}
	r.runtime.Commands().Grant(grant)
}

// readable is what the commands read outside the session's directories, where the user has
// allowed it on a card that named it: the sandbox must not hide it from them then. A
// directory stays hidden when it holds secrets, or is too large to be looked through. So
// does what a path leads to that led elsewhere when it was judged: the card has not named
// that (E6).
func (r *running) readable() []string {
	if !r.reach.approved {
		return nil
	}
	var shown []string
	for _, path := range r.reach.reads {
		if r.pipeline.Workspace.Shown(path) == path {
			shown = append(shown, path)
		}
	}
	return shown
}

// answeredBefore reports whether the user has allowed before, by a rule of theirs for
// this session or an answer that was kept, each part of the commands that needs the
// network. What stands beside such a part says nothing about it.
func (r *running) answeredBefore() bool {
	rules, some := r.pipeline.Policy.Rules(), false
	for _, resource := range r.judged.Resources {
		if resource.Judged == nil || !resource.Judged.Network {
			continue
		}
		part := r.judged
		part.Resources = []permissions.Resource{resource}
		d := rules.Decide(part)
		if d.Action != capability.Allow || d.Rule == nil || d.Scope != permissions.Session && d.Rule.Source != permissions.SourceAlways {
			return false
		}
		some = true
	}
	return some
}

// sandbox says on the card what the call's commands will be confined by (O1).
func (r *running) sandbox(ctx context.Context) string {
	server := r.entry.Source.Kind == tools.MCP && len(r.commands()) == 0 // it was started before, with what it has
	if server || !r.unpredictable() && len(r.commands()) == 0 {
		return ""
	}
	report, open, err := r.pipeline.Workspace.Runner().Sandbox(ctx)
	switch {
	case err != nil:
		return ""
	case !report.Confines():
		return report.String()
	}
	text := string(report.Kind) + ", network off"
	connects := len(r.commands()) > 0 && !r.reading() && !r.pipeline.restricted && r.pipeline.Workspace.Runner().Connects(ctx)
	if connects {
		text = string(report.Kind) + ", network by host"
	}
	if connects && !r.reach.missed.Network {
		return text + r.readOnlyNote()
	}
	if (!r.pipeline.restricted || !report.Network) && (open || r.reach.network || len(r.commands()) == 0 && !r.entry.Requires.Net.IsZero()) {
		text = string(report.Kind) + ", network on"
	}
	return text + r.readOnlyNote()
}

func (r *running) readOnlyNote() string {
	if r.pipeline.readOnly() != nil {
		return ", read-only"
	}
	return ""
}

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

// reach is what the commands of a call need beyond the default sandbox, as the judge of
// commands found it.
type reach struct {
	*underway
	// readsOnly says that the command judge found nothing but reading.
	readsOnly bool
	// texts are what runs in the place of commands, settings the variables of those.
	texts    []judgedText
	settings []string

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

// reset forgets everything but that the user has allowed the call.
func (r *reach) reset() { *r = reach{underway: r.underway, approved: r.approved} }

// note adds what the command judge found.
func (r *reach) note(v command.Verdict) {
	r.network = r.network || v.Network
	for _, part := range v.Parts {
		r.reads = append(r.reads, part.Reads...)
		r.beside = r.beside || !part.Network && part.Action != capability.Allow
		if len(part.Argv) > 0 && path.Base(part.Argv[0]) == "git" {
			r.git = true
		}
	}
}

// besideReason is why commands are asked about that are each allowed by themselves.
const besideReason = "one of the commands was allowed with the network, and the others would get it with them"

// mayStayOpen reports whether an "always" may open the network to the very same commands
// from now on: none of them is one of which nothing is ever stored (E5).
func (j *judgement) mayStayOpen() bool {
	return j.reach.again && !slices.ContainsFunc(j.judged.Resources, func(resource permissions.Resource) bool {
		judged := resource.Judged
		return resource.Dynamic || judged != nil && judged.Action != capability.Allow && len(judged.Always) == 0
	})
}

// reading reports whether the call's commands run because they only read: no user has
// allowed more to them, now or for good.
func (r *reach) reading() bool {
	return r.readsOnly && !r.approved && r.lacksGranted() == run.Lacking{}
}

// grant is how far the call's commands may reach. A command has the
// network when a user allowed it on a card that said so, now or, by "always",
// before for this session or project; a program has it when its tool declares it. A
// command that runs unasked because it only reads can change nothing, nor can any in a
// mode that changes nothing.
func (s *sandboxing) grant(ctx context.Context) run.Grant {
	granted, reading := s.reach.lacksGranted(), s.reach.reading()
	held := s.pipeline.readOnly() != nil
	grant := run.Grant{
		Network:   !s.entry.Requires.Net.IsZero(),
		GitConfig: s.reach.git && !s.reach.readsOnly,
		Unasked:   !s.reach.approved,
		ReadsOnly: reading || s.entry.ReadOnly, Unattended: s.pipeline.Asker == nil || s.pipeline.restricted,
		Reading: reading || held, Held: held, Secrets: s.reach.secrets,
		Offline:  s.pipeline.restricted || reading,
		Bounded:  reading && s.judgement.decision.Rule == nil,
		Readable: s.reach.readable(),
	}
	if len(s.commands()) > 0 {
		opened := s.reach.network && (s.reach.approved || !s.reach.beside && s.judgement.answeredBefore())
		grant.Network, grant.Packages = granted.Network || opened, opened
		if opened && !s.reach.missed.Network && s.pipeline.Workspace.Runner().Connects(ctx) {
			// Each host is asked about when it is reached for.
			grant.Network = granted.Network
		}
	}
	return grant
}

// sandboxing decides how far the call's commands may reach, and says it on the card.
type sandboxing struct {
	*underway
	judgement *judgement
	reach     *reach
}

// readable is what the commands read outside the session's directories, where the user has
// allowed it on a card that named it: the sandbox must not hide it from them then. A
// directory stays hidden when it holds secrets, or is too large to be looked through. So
// does what a path leads to that led elsewhere when it was judged: the card has not named
// that (E6).
func (r *reach) readable() []string {
	if !r.approved {
		return nil
	}
	var shown []string
	for _, path := range r.reads {
		if r.pipeline.Workspace.Shown(path) == path {
			shown = append(shown, path)
		}
	}
	return shown
}

// answeredBefore reports whether the user has allowed before, by a rule of theirs for
// this session or an answer that was kept, each part of the commands that needs the
// network. What stands beside such a part says nothing about it.
func (j *judgement) answeredBefore() bool {
	rules, some := j.pipeline.Policy.Rules(), false
	for _, resource := range j.judged.Resources {
		if resource.Judged == nil || !resource.Judged.Network {
			continue
		}
		part := j.judged
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
func (s *sandboxing) sandbox(ctx context.Context) string {
	server := s.entry.Source.Kind == tools.MCP && len(s.commands()) == 0 // it was started before, with what it has
	if server || !s.reach.unpredictable() && len(s.commands()) == 0 {
		return ""
	}
	report, open, err := s.pipeline.Workspace.Runner().Sandbox(ctx)
	switch {
	case err != nil:
		return ""
	case !report.Confines():
		return report.String()
	}
	text := string(report.Kind) + ", network off"
	connects := len(s.commands()) > 0 && !s.reach.reading() && !s.pipeline.restricted && s.pipeline.Workspace.Runner().Connects(ctx)
	if connects {
		text = string(report.Kind) + ", network by host"
	}
	if connects && !s.reach.missed.Network {
		return text + s.readOnlyNote()
	}
	if (!s.pipeline.restricted || !report.Network) && (open || s.reach.network || len(s.commands()) == 0 && !s.entry.Requires.Net.IsZero()) {
		text = string(report.Kind) + ", network on"
	}
	return text + s.readOnlyNote()
}

func (s *sandboxing) readOnlyNote() string {
	if s.pipeline.readOnly() != nil {
		return ", read-only"
	}
	return ""
}

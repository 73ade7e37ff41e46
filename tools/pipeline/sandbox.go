package pipeline

import (
	"context"
	"slices"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// mayStayOpen reports whether an "always" may open the network to the very same commands
// from now on: none of them is one of which nothing is ever stored (E5).
func (j *judgement) mayStayOpen() bool {
	return j.access.retried && !slices.ContainsFunc(j.judged.Resources, func(resource permissions.Resource) bool {
		judged := resource.Judged
		return resource.Dynamic || judged != nil && judged.Action != capability.Allow && len(judged.Always) == 0
	})
}

// grant is how far the call's commands may reach. A command has the
// network when a user allowed it on a card that said so, now or, by "always",
// before for this session or project; a program has it when its tool declares it. A
// command that runs unasked because it only reads can change nothing, nor can any in a
// mode that changes nothing. One that shows the machine runs where it sees it.
func (s *sandboxing) grant(ctx context.Context) run.Grant {
	granted, reading := s.access.grantedBefore(), s.access.heldToReading()
	held := s.pipeline.readOnly() != nil
	grant := run.Grant{
		Network:   !s.entry.Requires.Net.IsZero(),
		GitConfig: s.access.gitConfig && !s.access.readsOnly,
		Unasked:   !s.access.approved,
		ReadsOnly: reading || s.entry.ReadOnly, Unattended: s.pipeline.Asker == nil || s.pipeline.restricted,
		Reading: reading || held, Held: held, Secrets: s.access.secrets, HidesObjects: reading && s.access.hidesObjects,
		Offline:  s.pipeline.restricted || reading,
		Bounded:  reading && (s.judgement.decision.Rule == nil || s.access.showsMachine()), // no sandbox holds what shows the machine
		Readable: s.access.readableOutside(),
		Trusted:  s.judgement.trusted,
	}
	if s.access.showsMachine() && !held && !s.pipeline.restricted {
		grant.Unconfined = true
		return grant
	}
	if s.access.runsOutside && !held && !s.pipeline.restricted {
		grant.Unconfined, grant.Network = true, true
		return grant
	}
	if len(s.commands()) > 0 {
		opened := s.access.network && (s.access.approved || !s.access.othersWithoutNetwork && s.judgement.answeredBefore())
		grant.Network, grant.Packages = granted.Network || opened, opened
		if opened && !s.access.missed.Network && s.pipeline.Workspace.Runner().Connects(ctx) {
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
	access    *commandAccess
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

// offersOutside reports whether the card offers to run the call's commands outside of the
// sandbox: the user's configuration allows that, and the sandbox stopped them before or
// cannot serve them.
func (s *sandboxing) offersOutside(ctx context.Context) bool {
	if !s.access.mayOfferOutside || s.pipeline.restricted || s.pipeline.readOnly() != nil || !s.pipeline.Workspace.Runner().OffersOutside() {
		return false
	}
	report, _, err := s.pipeline.Workspace.Runner().Sandbox(ctx)
	return err == nil && report.Confines()
}

// sandbox says on the card what the call's commands will be confined by (O1).
func (s *sandboxing) sandbox(ctx context.Context) string {
	server := s.entry.Source.Kind == tools.MCP && len(s.commands()) == 0 // it was started before, with what it has
	if server || !s.access.mayChangeOtherFiles() && len(s.commands()) == 0 {
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
	connects := len(s.commands()) > 0 && !s.access.heldToReading() && !s.pipeline.restricted && s.pipeline.Workspace.Runner().Connects(ctx)
	if connects {
		text = string(report.Kind) + ", network by host"
	}
	if connects && !s.access.missed.Network {
		return text + s.readOnlyNote()
	}
	if (!s.pipeline.restricted || !report.Network) && (open || s.access.network || len(s.commands()) == 0 && !s.entry.Requires.Net.IsZero()) {
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

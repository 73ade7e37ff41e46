package pipeline

import (
	"context"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/workspace/run"
)

// sandboxing makes the sandbox's rights for the call's commands, and describes the sandbox on the card.
type sandboxing struct {
	*sharedState
	judgement *judgement
	access    *commandAccess
}

// grant returns the rights of the call's commands and programs:
//   - A command gets the network when the user allowed it on a card that said so, for this call or,
//     by "always", earlier. A program gets it when its tool declares it.
//   - A command that runs without a question because it only reads can change nothing. Nor can any
//     command in a mode that changes nothing.
//   - A command that shows the machine runs outside of the sandbox, where it sees the machine. So does a command
//     for which the user chose that on the card.
func (s *sandboxing) grant(ctx context.Context) run.Grant {
	before, reading := s.access.grantedBefore(), s.access.heldToReading()
	restricted, held := s.pipeline.restricted, s.pipeline.readOnly() != nil
	grant := run.Grant{
		Network:   !s.entry.Requires.Net.IsZero(),
		GitConfig: s.access.gitConfig && !s.access.readsOnly,
		Unasked:   !s.access.approved,
		ReadsOnly: reading || s.entry.ReadOnly, Unattended: s.pipeline.Asker == nil || restricted,
		Reading: reading || held, Held: held, Secrets: s.access.secrets, HidesObjects: reading && s.access.hidesObjects,
		HidesAddresses: reading && s.access.hidesAddresses,
		Offline:        restricted || reading,
		Bounded:        reading && (s.judgement.decision.Rule == nil || s.access.showsMachine()), // no sandbox holds what shows the machine
		Outside:        s.access.readableOutside(),
		Trusted:        s.judgement.trusted,
	}
	mayLeave := !held && !restricted
	switch {
	case mayLeave && s.access.showsMachine():
		grant.Unconfined = true
	case mayLeave && s.access.runsOutside:
		grant.Unconfined, grant.Network = true, true
	case len(s.commands()) > 0:
		opened := s.access.network && (s.access.approved || !s.access.othersWithoutNetwork && s.judgement.networkAllowedBefore())
		grant.Network, grant.Packages = before.Network || opened, opened
		if opened && !s.access.missed.Network && s.pipeline.Workspace.Runner().CommandsUseProxy(ctx) {
			grant.Network = before.Network // the user is asked about each host when a command connects to it
		}
	}
	return grant
}

// offersOutside reports whether the card offers to run the call's commands outside of the
// sandbox: the user's configuration allows it, and the commands failed inside the sandbox or cannot
// work there.
func (s *sandboxing) offersOutside(ctx context.Context) bool {
	if !s.access.mayOfferOutside || s.pipeline.restricted || s.pipeline.readOnly() != nil || !s.pipeline.Workspace.Runner().OffersOutside() {
		return false
	}
	report, _, err := s.pipeline.Workspace.Runner().Sandbox(ctx)
	return err == nil && report.Confines()
}

// describe names, for the card, the sandbox that will confine the call's commands (O1).
func (s *sandboxing) describe(ctx context.Context) string {
	server := s.entry.Source.Kind == tools.MCP && len(s.commands()) == 0 // it was started earlier, with rights of its own
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
	text := string(report.Kind) + ", network " + s.networkText(ctx, report, open)
	if s.pipeline.readOnly() != nil {
		text += ", read-only"
	}
	return text
}

// networkText says which network the call's commands get once the user allows the call; a tool without commands is
// judged by the network that it declares. open says that every command has it.
func (s *sandboxing) networkText(ctx context.Context, report sandbox.Report, open bool) string {
	mayConnect, wanted := !s.access.heldToReading(), s.access.network
	if len(s.commands()) == 0 {
		declares := !s.entry.Requires.Net.IsZero()
		mayConnect, wanted = !s.entry.ReadOnly && !declares, wanted || declares
	}
	byHost := mayConnect && !s.pipeline.restricted && s.pipeline.Workspace.Runner().CommandsUseProxy(ctx)
	mayBeOn := !s.pipeline.restricted || !report.Network // a restricted agent has it only where nothing can take it away
	switch {
	case byHost && !s.access.missed.Network:
		return "by host"
	case mayBeOn && (open || wanted): // a command that failed by host gets all of it, too
		return "on"
	case byHost:
		return "by host"
	}
	return "off"
}

// networkAllowedBefore reports whether the user has already allowed each command that needs the
// network, by a rule for this session or a stored answer. The other commands do not count.
func (j *judgement) networkAllowedBefore() bool {
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

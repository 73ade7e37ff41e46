package pipeline

import (
	"context"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/sandbox"
)

// What a command is asked about that nothing else speaks against.
const (
	unconfinedReason = "there is no sandbox here that would keep it from more than reading, and only a few plain commands run without a question then"
	unhiddenReason   = "the session's directories hold too much to look through for secrets, which would be hidden from it"
	openReason       = "the session's directories hold more files of secrets than can be hidden from it"
	unknownReason    = "the session's directories hold too much to look through for secrets and for files that make programs run, which would be kept from it"
)

// askAboutReading makes a question of a command that would run unasked because it only reads,
// where nothing holds it to that (R119, S7), or where what it must not read is not known.
// What the user allows by a rule of theirs runs.
func (j *judgement) askAboutReading(ctx context.Context) error {
	if j.decision.Action != capability.Allow || !j.reach.reading() {
		return nil
	}
	report, known := j.pipeline.Workspace.Runner().SandboxKnown()
	if !known && !j.dryRun {
		var err error
		if report, _, err = j.pipeline.Workspace.Runner().Sandbox(ctx); err != nil {
			return err
		}
		known = true
	}
	switch {
	case !known:
		return nil
	case report.Refused != "":
		return nil // it does not run
	case !report.Confines():
		if !j.ruled(true) {
			j.reach.unconfined = true
			j.turnIntoQuestion(unconfinedReason)
		}
		return nil
	}
	secrets, whole := j.pipeline.Workspace.Runner().ReadingSecrets()
	j.reach.secrets = secrets
	if !whole && !j.ruled(false) {
		j.turnIntoQuestion(unhiddenReason)
	}
	return nil
}

func (j *judgement) turnIntoQuestion(reason string) {
	j.decision.Action, j.decision.Layer, j.decision.Reason = capability.Ask, permissions.LayerPolicy, reason
	j.decision.Rule, j.decision.NoAlways = nil, "what holds it to reading is not there"
}

// ruled reports whether each part of the commands is allowed by a rule that is not a shipped
// one; plain ones, on the list of R119, need none. The files that a part reads are judged
// with it.
func (j *judgement) ruled(plain bool) bool {
	rules := j.pipeline.Policy.Rules()
	for _, resource := range j.judged.Resources {
		if resource.Kind != permissions.Command || plain && resource.Judged != nil && resource.Judged.Plain {
			continue
		}
		part := j.judged
		part.Resources = []permissions.Resource{resource}
		if d := rules.Decide(part); d.Action != capability.Allow || d.Rule == nil || d.Scope == permissions.DefaultScope {
			return false
		}
	}
	return true
}

// askAboutNames makes a question of a command that would run unasked and does more than read,
// where it is not known what must be kept from it: secrets and protected names (P5). What
// the user allows by a rule of theirs runs, and its result says so.
func (j *judgement) askAboutNames() {
	if j.decision.Action != capability.Allow || len(j.commands()) == 0 || j.reach.reading() || j.pipeline.readOnly() != nil {
		return
	}
	var whole bool
	j.reach.openSecrets, whole = j.pipeline.Workspace.Runner().OpenSecrets()
	switch {
	case whole && !j.reach.secretsOpen(), j.ruled(false):
	case !whole:
		j.turnIntoQuestion(unknownReason)
	default:
		j.turnIntoQuestion(openReason)
	}
}

// secretsOpen reports whether some secrets stay in reach of a command although the kind of
// sandbox hides secrets.
func (r *reach) secretsOpen() bool {
	report, _ := r.pipeline.Workspace.Runner().SandboxKnown()
	return r.openSecrets > 0 && (report.Kind.HasView() || report.Kind == sandbox.Seatbelt)
}

package pipeline

import (
	"context"

	"acp-agent/capability"
	"acp-agent/permissions"
	"acp-agent/sandbox"
)

// The questions about commands that the rules allow.
const (
	noSandboxReason         = "there is no sandbox here that would keep it from more than reading, and only a few plain commands run without a question then"
	unsearchedReadingReason = "the session's directories hold too much to look through for secrets, which would be hidden from it"
	exposedSecretsReason    = "the session's directories hold more files of secrets than can be hidden from it"
	unsearchedReason        = "the session's directories hold too much to look through for secrets and for files that make programs run, which would be kept from it"
)

// askAboutReading asks about a command that would run without a question because it only reads,
// when no sandbox holds it to reading (R119, S7), or when the session's directories are too large
// to find the secrets in them. A command that a rule of the user's allows runs.
func (j *judgement) askAboutReading(ctx context.Context) error {
	if j.decision.Action != capability.Allow || !j.access.heldToReading() {
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
		return nil // the command does not run
	case !report.Confines():
		if !j.allowedByUserRules(true) {
			j.access.noSandbox = true
			j.turnIntoQuestion(noSandboxReason)
		}
		return nil
	}
	secrets, whole := j.pipeline.Workspace.Runner().ReadingSecrets()
	j.access.secrets = secrets
	if !whole && !j.allowedByUserRules(false) {
		j.turnIntoQuestion(unsearchedReadingReason)
	}
	return nil
}

// turnIntoQuestion makes a question of an allow. It offers no "always": a rule would let the command run with nothing that
// holds it.
func (j *judgement) turnIntoQuestion(reason string) {
	j.decision.Action, j.decision.Layer, j.decision.Reason = capability.Ask, permissions.LayerPolicy, reason
	j.decision.Rule, j.decision.NoAlways = nil, "what holds it to reading is not there"
}

// allowedByUserRules reports whether a rule that is not a shipped one allows each command. With
// exceptPlain, the commands on the list of R119 need no rule. The files that a command reads are
// judged with it.
func (j *judgement) allowedByUserRules(exceptPlain bool) bool {
	rules := j.pipeline.Policy.Rules()
	for _, resource := range j.judged.Resources {
		if resource.Kind != permissions.Command || exceptPlain && resource.Judged != nil && resource.Judged.Plain {
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

// askAboutExposedFiles asks about a command that would run without a question and does more than
// read, when the sandbox cannot hide all secrets and protected names from it (P5). A command that
// a rule of the user's allows runs, and a notice tells the user about the secrets.
func (j *judgement) askAboutExposedFiles() {
	if j.decision.Action != capability.Allow || len(j.commands()) == 0 || j.access.heldToReading() || j.pipeline.readOnly() != nil {
		return
	}
	var whole bool
	j.access.openSecrets, whole = j.pipeline.Workspace.Runner().OpenSecrets()
	switch {
	case whole && !j.access.secretsOpen(), j.allowedByUserRules(false):
	case !whole:
		j.turnIntoQuestion(unsearchedReason)
	default:
		j.turnIntoQuestion(exposedSecretsReason)
	}
}

// hidesSecrets reports whether a sandbox hides single files.
func hidesSecrets(report sandbox.Report) bool {
	return report.Kind.HasView() || report.Kind == sandbox.Seatbelt
}

// secretsOpen reports whether a command can read some secrets although this kind of sandbox hides
// secrets.
func (a *commandAccess) secretsOpen() bool {
	report, _ := a.pipeline.Workspace.Runner().SandboxKnown()
	return a.openSecrets > 0 && hidesSecrets(report)
}

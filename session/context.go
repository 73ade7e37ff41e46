package session

import (
	"context"

	"acp-agent/skills"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// told is what a session's agent is told of besides its manifest, read once
// when the session opens (R85, R86).
type told struct {
	skills       *skills.Library
	instructions skills.Instructions
	warnings     []skills.Warning
}

// learnContext looks for skills and project instructions. It reads text and
// runs nothing, so it needs no trust (T1).
func (h *Host) learnContext(ctx context.Context, spec Spec) told {
	o := h.Skills
	o.Cwd, o.Roots, o.Secret = spec.Cwd, spec.Additional, h.secret
	var t told
	t.skills, t.warnings = skills.Discover(ctx, o)
	instructions, warnings := skills.LoadInstructions(o)
	t.instructions, t.warnings = instructions, append(t.warnings, warnings...)
	return t
}

// tell shows what was wrong with the skills and instructions.
func (t told) tell(sink transcript.Sink) {
	for _, w := range t.warnings {
		sink.Emit(transcript.Notice{Severity: transcript.Warning, Title: "Skills and instructions", Text: w.String()})
	}
}

// skillIndex is the session's skills as tools ask for them.
type skillIndex struct{ *skills.Library }

// Load implements tools.SkillIndex.
func (i skillIndex) Load(name string) (string, error) {
	content, err := i.Library.Load(name)
	if err != nil {
		return "", &tools.Error{Kind: tools.BadInput, Message: err.Error(), Err: err}
	}
	return content, nil
}

// tellProblems shows what of the configuration could not be used.
func (h *Host) tellProblems(sink transcript.Sink) {
	if h.Warnings == nil {
		return
	}
	for _, problem := range h.Warnings() {
		sink.Emit(transcript.Notice{Severity: transcript.Warning, Title: "Configuration", Text: problem})
	}
}

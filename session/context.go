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
func (h *Host) learnContext(ctx context.Context, spec Spec, secret func(path string) bool) told {
	o := h.Skills
	o.Cwd, o.Roots, o.Secret = spec.Cwd, spec.Additional, secret
	var t told
	t.skills, t.warnings = skills.Discover(ctx, o)
	instructions, warnings := skills.LoadInstructions(o)
	t.instructions, t.warnings = instructions, append(t.warnings, warnings...)
	return t
}

// notices say what was wrong with the skills and instructions.
func (t told) notices() []transcript.Notice {
	var list []transcript.Notice
	for _, w := range t.warnings {
		list = append(list, transcript.Notice{Severity: transcript.Warning, Title: "Skills and instructions", Text: w.String()})
	}
	return list
}

// skillIndex is the session's skills as tools ask for them.
type skillIndex struct{ *skills.Library }

// skillsOf is nil when there are none.
func skillsOf(library *skills.Library) tools.SkillIndex {
	if len(library.Index()) == 0 {
		return nil
	}
	return skillIndex{library}
}

// Load implements tools.SkillIndex.
func (i skillIndex) Load(name string) (string, error) {
	content, err := i.Library.Load(name)
	if err != nil {
		return "", &tools.Error{Kind: tools.BadInput, Message: err.Error(), Err: err}
	}
	return content, nil
}

// problems say what of the configuration could not be used.
func (h *Host) problems() []transcript.Notice {
	if h.Warnings == nil {
		return nil
	}
	var list []transcript.Notice
	for _, problem := range h.Warnings() {
		list = append(list, transcript.Notice{Severity: transcript.Warning, Title: "Configuration", Text: problem})
	}
	return list
}

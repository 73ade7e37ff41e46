package session

import (
	"context"

	"acp-agent/internal/record"
	"acp-agent/skills"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// systemContext is the skills and project instructions in the system prompt of a session's agents, read
// once when the session opens (R85, R86).
type systemContext struct {
	skills       *skills.Library
	instructions skills.Instructions
	warnings     []skills.Warning
}

// readSystemContext finds skills and project instructions. It reads text and runs nothing, so
// it needs no trust.
func (h *Host) readSystemContext(ctx context.Context, spec Spec, secret func(path string) bool) systemContext {
	o := h.Skills
	o.Cwd, o.Roots, o.Secret = spec.Cwd, spec.Additional, secret
	var t systemContext
	read := record.Value(h.Tape, "instructions", spec.Cwd, func() readContext {
		var r readContext
		t.skills, r.Warnings = skills.Discover(ctx, o)
		instructions, warnings := skills.LoadInstructions(o)
		r.Skills, r.Instructions, r.Warnings = t.skills.Index(), instructions, append(r.Warnings, warnings...)
		return r
	})
	if t.skills == nil {
		t.skills = skills.Listed(read.Skills)
	}
	t.instructions, t.warnings = read.Instructions, read.Warnings
	return t
}

// readContext is how a recording keeps a systemContext.
type readContext struct {
	Skills       []skills.Entry
	Instructions skills.Instructions
	Warnings     []skills.Warning
}

// notices say what was wrong with the skills and instructions.
func (t systemContext) notices() []transcript.Notice {
	var list []transcript.Notice
	for _, w := range t.warnings {
		list = append(list, transcript.Notice{Severity: transcript.Warning, Title: "Skills and instructions", Text: w.String()})
	}
	return list
}

// skillIndex is the session's skills as tools ask for them.
type skillIndex struct{ *skills.Library }

// skillsOf returns the index of a library; nil when it is empty.
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

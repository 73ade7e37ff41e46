package subagent

import (
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/strictread"
	"acp-agent/kinds"
)

// ParseManifest parses an agent manifest: Markdown whose front matter says what the agent is
// called, what it is for and what it may use; the text below is its prompt. file is its name,
// for messages and the sources of its rules.
//
// Fields of other agents are translated, or noted in Problems, so that no setting is silently
// without effect. Unknown fields are errors, except in the folder of another program. Every
// error is a *Problem with file and line. ParseManifest does not check what the manifest refers
// to; see [Check].
//
// An agent without a mode is a subagent, and a subagent without a level is restricted.
func ParseManifest(file string, text []byte) (Manifest, error) {
	f := frontMatter{file: file, lines: map[string]int{}}
	m := Manifest{Mode: Subagent, File: file}
	front, body, err := strictread.Split(text)
	if err != nil {
		p := problem(file, 1, "%v", err)
		return Manifest{}, &p
	}
	if top := f.parse(front); top != nil {
		f.read(&m, top)
	}
	m.Prompt = kinds.Visible(strings.ReplaceAll(string(body), "\r\n", "\n"))
	if m.Level == "" && m.Mode != Primary {
		m.Level = Restricted
	}
	if m.Level == "" {
		m.Level = Inherit
	}
	f.checkRequired(m)
	if f.err != nil {
		return Manifest{}, f.err
	}
	m.Lines, m.Problems = f.lines, f.notes
	return m, nil
}

// read parses the fields.
func (f *frontMatter) read(m *Manifest, top *strictread.Node) {
	readers := fields()
	f.each("", top, func(field, name string, value *strictread.Node) {
		switch reader := readers[name]; {
		case reader != nil:
			reader(f, m, field, value)
		case slices.Contains(foreignFields, name):
			f.note(field, "this field of other agents has no effect here")
		case f.inForeignFolder():
			f.note(field, "unknown field without effect; known here: %s", ownFields())
		default: // it could be a misspelt restriction
			f.fault(field, "unknown field; known here: %s", ownFields())
		}
	})
}

// inForeignFolder reports whether the manifest lies in the folder of another program, whose
// manifests may have further fields.
func (f *frontMatter) inForeignFolder() bool {
	return slices.Contains(strings.Split(filepath.ToSlash(f.file), "/"), ".claude")
}

// checkRequired checks the fields that every agent needs.
func (f *frontMatter) checkRequired(m Manifest) {
	if f.err != nil {
		return
	}
	fail := func(line int, format string, args ...any) {
		if f.err == nil {
			p := problem(f.file, max(line, 1), format, args...)
			f.err = &p
		}
	}
	switch {
	case m.Name == "":
		fail(f.lines["name"], "the agent has no name")
	case !validName(m.Name):
		fail(f.lines["name"], "name: %q is not a valid agent name; names are 1 to 64 of a-z, 0-9, - and _", m.Name)
	case m.Name == mainName:
		fail(f.lines["name"], "name: %s is the agent that the user talks to", mainName)
	case m.Description == "":
		fail(f.lines["description"], "the agent has no description")
	case strings.TrimSpace(m.Prompt) == "":
		fail(1, "the agent has no prompt below its front matter")
	}
}

// validName reports whether an agent may have the name. Paths of names use slashes, so a name
// has none.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// at returns the line of a field, or of the nearest enclosing field.
func (m Manifest) at(field string) int {
	for {
		if line, ok := m.Lines[field]; ok {
			return line
		}
		cut := strings.LastIndexAny(field, ".[")
		if cut < 0 {
			return 0
		}
		field = field[:cut]
	}
}

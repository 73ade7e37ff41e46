package subagent

import (
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"acp-agent/kinds"
)

// fence opens and closes the front matter.
const fence = "---"

// ParseManifest reads an agent manifest: Markdown whose front matter says what the agent
// is called, what it is for and what it may use; the text below is its prompt. file is
// its name, for messages and the sources of its rules. Fields of other agents are taken
// for what they mean here or noted in Problems, so that no setting is silently without
// effect; unknown ones are errors, but in the folder of another program. An error is a
// *Problem with file and line. What the manifest names is not looked at; see [Check].
//
// An agent without a mode is a subagent, and a subagent without a level restricted.
func ParseManifest(file string, text []byte) (Manifest, error) {
	h := head{file: file, lines: map[string]int{}}
	m := Manifest{Mode: Subagent, File: file}
	front, body, bad := splitManifest(text)
	if bad != "" {
		p := problem(file, 1, "%s", bad)
		return Manifest{}, &p
	}
	if top := h.parse(front); top != nil {
		h.read(&m, top)
	}
	m.Prompt = kinds.Visible(body)
	if m.Level == "" && m.Mode != Primary {
		m.Level = Restricted
	}
	if m.Level == "" {
		m.Level = Inherit
	}
	h.whole(m)
	if h.err != nil {
		return Manifest{}, h.err
	}
	m.Lines, m.Problems = h.lines, h.notes
	return m, nil
}

// read takes the fields.
func (h *head) read(m *Manifest, top *yaml.Node) {
	readers := fields()
	h.each("", top, func(field, name string, value *yaml.Node) {
		switch reader := readers[name]; {
		case reader != nil:
			reader(h, m, field, value)
		case slices.Contains(foreignFields, name):
			h.note(field, "this field of other agents has no effect here")
		case h.theirs():
			h.note(field, "unknown field without effect; known here: %s", ownFields())
		default: // misspelt, it could be what was to bound the agent
			h.fault(field, "unknown field; known here: %s", ownFields())
		}
	})
}

// theirs reports whether the manifest lies where another program keeps its agents, which
// may know more fields.
func (h *head) theirs() bool {
	return slices.Contains(strings.Split(filepath.ToSlash(h.file), "/"), ".claude")
}

// whole checks what every agent needs.
func (h *head) whole(m Manifest) {
	if h.err != nil {
		return
	}
	say := func(line int, format string, args ...any) {
		if h.err == nil {
			p := problem(h.file, max(line, 1), format, args...)
			h.err = &p
		}
	}
	switch {
	case m.Name == "":
		say(h.lines["name"], "the agent has no name")
	case !validName(m.Name):
		say(h.lines["name"], "name: %q is no name for an agent; names are 1 to 64 of a-z, 0-9, - and _", m.Name)
	case m.Name == mainName:
		say(h.lines["name"], "name: %s is the agent that the person talks to", mainName)
	case m.Description == "":
		say(h.lines["description"], "the agent has no description")
	case strings.TrimSpace(m.Prompt) == "":
		say(1, "the agent has no prompt below its front matter")
	}
}

// validName reports whether an agent may have the name. Paths of names are written with
// slashes.
func validName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// splitManifest takes a manifest apart at its fences. The front matter begins with an
// empty line, so that its lines are counted as those of the file. bad says what is wrong.
func splitManifest(text []byte) (front, body, bad string) {
	all := strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")
	first, rest, _ := strings.Cut(all, "\n")
	if strings.TrimRight(first, " \t") != fence {
		return "", "", "it does not begin with front matter between two lines of ---"
	}
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == fence {
			return "\n" + rest[:at], rest[at+len(line):], ""
		}
		at += len(line)
	}
	return "", "", "its front matter is not closed by a line of ---"
}

// at is the line of a field of the manifest, of the one that holds it when it has none
// of its own.
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

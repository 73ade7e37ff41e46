package kinds

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place is where a session works: what titles are made relative to.
type Place struct {
	// Cwd is the session's directory, absolute.
	Cwd string
	// Home is the person's home directory; "" leaves "~" as it stands.
	Home string
}

// Abs turns a path as a model writes it ("~/x", "a/b", "/c") into an absolute,
// cleaned one. It does not look at the disk.
func (p Place) Abs(path string) string {
	switch {
	case path == "":
		return p.Cwd
	case path == "~" && p.Home != "":
		return p.Home
	case strings.HasPrefix(path, "~/") && p.Home != "":
		path = filepath.Join(p.Home, path[2:])
	case !filepath.IsAbs(path):
		path = filepath.Join(p.Cwd, path)
	}
	return filepath.Clean(path)
}

// Rel is the short form of an absolute path for titles: relative to the
// session's directory when beneath it, the path itself otherwise.
func (p Place) Rel(path string) string {
	rel, err := filepath.Rel(p.Cwd, path)
	if err != nil || p.Cwd == "" || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// titleLimit bounds every title but a command's, in runes.
const titleLimit = 120

// titler makes a title and the touched locations from the arguments.
type titler func(args arguments, in Place) (string, []Location)

// Describe makes the card of a call from its canonical id and its arguments.
// It never fails: arguments that are missing or malformed give the tool's
// label. Control and bidirectional characters in titles are shown escaped, so
// that a title cannot pretend to be another (docs/security.md O2).
func Describe(id string, args json.RawMessage, in Place) Card {
	card := Card{Kind: Of(id), Title: Label(id)}
	r := find(id)
	if r == nil || r.title == nil {
		return card
	}
	title, locations := r.title(parse(args), in)
	if title != "" {
		card.Title = title
	}
	card.Locations = locations
	if id != "bash" {
		card.Title = Line(card.Title, titleLimit)
	} else {
		card.Title = Visible(card.Title)
	}
	if id == "apply_patch" {
		card.Kind = patchKind(parse(args).text("patch"))
	}
	if id == "lsp" {
		card.Kind = lspKind(parse(args).text("operation"))
	}
	return card
}

// arguments is a call's JSON object, read leniently.
type arguments map[string]json.RawMessage

func parse(args json.RawMessage) arguments {
	var m arguments
	if json.Unmarshal(args, &m) != nil {
		return nil
	}
	return m
}

func (a arguments) text(key string) string {
	var s string
	if json.Unmarshal(a[key], &s) != nil {
		return ""
	}
	return s
}

func (a arguments) line() int {
	var span []float64
	if json.Unmarshal(a["read_range"], &span) == nil && len(span) > 0 && span[0] >= 1 {
		return int(span[0])
	}
	return 0
}

func pathTitle(verb string) titler {
	return func(a arguments, in Place) (string, []Location) {
		path := a.text("path")
		if path == "" {
			return "", nil
		}
		abs, line := in.Abs(path), a.line()
		title := verb + " " + in.Rel(abs)
		if line > 1 {
			title = fmt.Sprintf("%s from line %d", title, line)
		}
		return title, []Location{{Path: abs, Line: line}}
	}
}

func argTitle(verb, key string) titler {
	return func(a arguments, _ Place) (string, []Location) {
		value := a.text(key)
		if value == "" {
			return "", nil
		}
		return verb + " " + value, nil
	}
}

func grepTitle(a arguments, in Place) (string, []Location) {
	pattern := a.text("pattern")
	if pattern == "" {
		return "", nil
	}
	title := "Search for " + pattern
	if glob := a.text("glob"); glob != "" {
		return title + " in " + glob, nil
	}
	if path := a.text("path"); path != "" {
		return title + " in " + in.Rel(in.Abs(path)), nil // often a directory, which no editor follows
	}
	return title, nil
}

func commandTitle(a arguments, _ Place) (string, []Location) { return a.text("cmd"), nil }

func taskTitle(a arguments, _ Place) (string, []Location) {
	agent, prompt := a.text("subagent_type"), a.text("prompt")
	if agent == "" {
		return prompt, nil
	}
	return agent + " › " + prompt, nil
}

func lspTitle(a arguments, in Place) (string, []Location) {
	operation, path := a.text("operation"), a.text("path")
	if operation == "" || path == "" {
		return operation, nil
	}
	abs := in.Abs(path)
	return operation + " in " + in.Rel(abs), []Location{{Path: abs}}
}

// Line folds text into one visible line of at most limit runes.
func Line(text string, limit int) string {
	text = Visible(strings.Join(strings.Fields(text), " "))
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// Visible escapes what a person could not see or would be misled by: control
// characters other than newline and tab, bidirectional controls, invisible
// tag characters, and invalid UTF-8.
func Visible(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "�") {
		if hidden(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r):
		return true
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x2069, r == 0xfeff:
		return true
	case r == 0x061c, r >= 0x206a && r <= 0x206f, r >= 0xfff9 && r <= 0xfffb:
		return true // marks of direction, of shaping and of annotations
	case r == 0x00ad, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r == 0x3164, r == 0xffa0:
		return true // blanks, joiners and hyphens that are not shown
	case r >= 0xe0000 && r <= 0xe01ef:
		return true // tags, and selectors that no emoji has
	}
	return false
}

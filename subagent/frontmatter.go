package subagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"acp-agent/internal/strictread"
)

// Limits of the front matter of a manifest.
const (
	maxFrontMatter = 64 << 10 // bytes
	maxNodes       = 2000     // values, so that no comparison of them takes long
)

// frontMatter parses the front matter of one manifest. It keeps the first error only.
type frontMatter struct {
	file  string
	lines map[string]int
	err   *Problem
	notes []Problem
}

// fault records an error at a field, unless there is one already.
func (f *frontMatter) fault(field, format string, args ...any) {
	if f.err == nil {
		p := problem(f.file, f.lines[field], field+": "+format, args...)
		f.err = &p
	}
}

// note records a field without effect.
func (f *frontMatter) note(field, format string, args ...any) {
	p := problem(f.file, f.lines[field], field+": "+format, args...)
	p.Warning = true
	f.notes = append(f.notes, p)
}

// parse parses the front matter and records the line of every field.
func (f *frontMatter) parse(front []byte) *strictread.Node {
	if len(front) > maxFrontMatter {
		p := problem(f.file, 1, "its front matter is larger than %d bytes", maxFrontMatter)
		f.err = &p
		return nil
	}
	top, err := strictread.FrontMatter(front, strictread.Options{MaxNodes: maxNodes})
	if mistake, ok := errors.AsType[*strictread.Error](err); ok {
		text := mistake.Text()
		if mistake.Syntax {
			text = "its front matter is not valid YAML: " + text
		}
		p := problem(f.file, mistake.Line, "%s", text)
		f.err = &p
		return nil
	}
	if top.Kind != strictread.Object {
		p := problem(f.file, top.At.Line, "its front matter is not a list of fields")
		f.err = &p
		return nil
	}
	top.Walk(func(field string, at strictread.Position) { f.lines[field] = at.Line })
	return top
}

// empty reports whether a field has no value.
func empty(n *strictread.Node) bool { return n.Kind == strictread.Null }

func (f *frontMatter) text(field string, n *strictread.Node) string {
	if !n.Scalar() {
		f.fault(field, "expects a text")
		return ""
	}
	if empty(n) {
		return ""
	}
	return strings.TrimSpace(n.Text)
}

func (f *frontMatter) boolean(field string, n *strictread.Node) (value bool) {
	if n.Kind != strictread.Bool || json.Unmarshal(n.JSON(), &value) != nil {
		f.fault(field, "expects true or false")
	}
	return value
}

// count parses a whole number from 0 to most.
func (f *frontMatter) count(field string, n *strictread.Node, most int) int {
	value, err := strconv.Atoi(n.Text)
	if n.Kind != strictread.Number || err != nil || value < 0 || value > most {
		f.fault(field, "expects a whole number from 0 to %d", most)
		return 0
	}
	return value
}

// number parses a number from 0 to most.
func (f *frontMatter) number(field string, n *strictread.Node, most float64) float64 {
	value, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != strictread.Number || err != nil || !(value >= 0 && value <= most) {
		f.fault(field, "expects a number from 0 to %v", most)
		return 0
	}
	return value
}

func (f *frontMatter) duration(field string, n *strictread.Node) time.Duration {
	value, err := time.ParseDuration(n.Text)
	if !n.Scalar() || err != nil || value < 0 {
		f.fault(field, `expects a time with a unit, such as "90s" or "5m"`)
		return 0
	}
	return value
}

// names parses a list of names, or one text with commas between them. It never returns nil.
func (f *frontMatter) names(field string, n *strictread.Node) []string {
	list := []string{}
	switch {
	case empty(n):
	case n.Scalar():
		for _, name := range splitNames(n.Text) {
			f.lines[fmt.Sprintf("%s[%d]", field, len(list))] = f.lines[field]
			list = append(list, name)
		}
	case n.Kind == strictread.List:
		for i, item := range n.Items {
			list = append(list, f.text(fmt.Sprintf("%s[%d]", field, i), item))
		}
	default:
		f.fault(field, "expects a list of names, or one text with commas between them")
	}
	if i := slices.Index(list, ""); i >= 0 {
		f.fault(field, "expects names, found an empty text")
	}
	return list
}

// splitNames splits at the commas outside parentheses.
func splitNames(text string) []string {
	var list []string
	depth, from := 0, 0
	for i, r := range text + "," {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ',' && (depth == 0 || i == len(text)):
			if name := strings.TrimSpace(text[from:i]); name != "" {
				list = append(list, name)
			}
			from = i + 1
		}
	}
	return list
}

// each calls visit for every field of a mapping.
func (f *frontMatter) each(field string, n *strictread.Node, visit func(field, name string, value *strictread.Node)) {
	if empty(n) {
		return
	}
	if n.Kind != strictread.Object {
		f.fault(field, "expects fields, one a line")
		return
	}
	for _, m := range n.Members {
		visit(strictread.Join(field, m.Name), m.Name, m.Value)
	}
}

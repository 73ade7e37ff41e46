package subagent

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"acp-agent/skills"
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

// yamlLine matches the prefix of the parser's errors.
var yamlLine = regexp.MustCompile(`^yaml: (?:line \d+: )?`)

// maxLook bounds the text that is searched for the line of an error, in bytes.
const maxLook = 8 << 10

// mistakeLine finds the line of an error: the first line with which the parser reports the same
// error. The line that the parser reports is often the start of the block.
func mistakeLine(text string, mistake error) int {
	want := yamlLine.ReplaceAllString(mistake.Error(), "")
	at, end := 1, 0
	for line := range strings.Lines(text[:min(len(text), maxLook)]) {
		end += len(line)
		if _, err := skills.FrontMatter(text[:end]); err != nil && yamlLine.ReplaceAllString(err.Error(), "") == want {
			return at
		}
		at++
	}
	return 1
}

// parse parses the YAML and records the line of every field.
func (f *frontMatter) parse(text string) *yaml.Node {
	if len(text) > maxFrontMatter {
		p := problem(f.file, 1, "its front matter is larger than %d bytes", maxFrontMatter)
		f.err = &p
		return nil
	}
	document, err := skills.FrontMatter(text)
	if err != nil {
		p := problem(f.file, mistakeLine(text, err), "its front matter is not valid YAML: %s", yamlLine.ReplaceAllString(err.Error(), ""))
		f.err = &p
		return nil
	}
	if len(document.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		p := problem(f.file, max(top.Line, 1), "its front matter is not a list of fields")
		f.err = &p
		return nil
	}
	nodes := 0
	if err := f.index(top, "", &nodes); err != nil {
		p := problem(f.file, err.line, "%v", err.err)
		f.err = &p
		return nil
	}
	return top
}

// lineError is an error with a line number.
type lineError struct {
	line int
	err  error
}

// index records the line of each field. It rejects YAML features that no manifest needs, and
// input that is slow to process.
func (f *frontMatter) index(n *yaml.Node, field string, nodes *int) *lineError {
	if *nodes++; *nodes > maxNodes {
		return &lineError{n.Line, fmt.Errorf("its front matter holds more than %d values", maxNodes)}
	}
	f.lines[field] = n.Line
	switch n.Kind {
	case yaml.AliasNode:
		return &lineError{n.Line, errors.New("an alias (*name) is not supported here; write the value out")}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if err := f.index(item, fmt.Sprintf("%s[%d]", field, i), nodes); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			name := key.Value
			if field != "" {
				name = field + "." + name
			}
			if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
				return &lineError{key.Line, errors.New("a field needs a plain name")}
			}
			if _, twice := f.lines[name]; twice {
				return &lineError{key.Line, fmt.Errorf("%s is set twice; keep one", name)}
			}
			if err := f.index(value, name, nodes); err != nil {
				return err
			}
			f.lines[name] = key.Line
		}
	}
	return nil
}

// empty reports whether a field has no value.
func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func (f *frontMatter) text(field string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		f.fault(field, "expects a text")
		return ""
	}
	if empty(n) {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

func (f *frontMatter) boolean(field string, n *yaml.Node) (value bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&value) != nil {
		f.fault(field, "expects true or false")
	}
	return value
}

// count parses a whole number from 0 to most.
func (f *frontMatter) count(field string, n *yaml.Node, most int) int {
	value, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || value < 0 || value > most {
		f.fault(field, "expects a whole number from 0 to %d", most)
		return 0
	}
	return value
}

// number parses a number from 0 to most.
func (f *frontMatter) number(field string, n *yaml.Node, most float64) float64 {
	value, err := strconv.ParseFloat(n.Value, 64)
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" || err != nil || !(value >= 0 && value <= most) {
		f.fault(field, "expects a number from 0 to %v", most)
		return 0
	}
	return value
}

func (f *frontMatter) duration(field string, n *yaml.Node) time.Duration {
	value, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || value < 0 {
		f.fault(field, `expects a time with a unit, such as "90s" or "5m"`)
		return 0
	}
	return value
}

// names parses a list of names, or one text with commas between them. It never returns nil.
func (f *frontMatter) names(field string, n *yaml.Node) []string {
	list := []string{}
	switch {
	case empty(n):
	case n.Kind == yaml.ScalarNode:
		for _, name := range splitNames(n.Value) {
			f.lines[fmt.Sprintf("%s[%d]", field, len(list))] = f.lines[field]
			list = append(list, name)
		}
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
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
func (f *frontMatter) each(field string, n *yaml.Node, visit func(field, name string, value *yaml.Node)) {
	if empty(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		f.fault(field, "expects fields, one a line")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		at := name
		if field != "" {
			at = field + "." + name
		}
		visit(at, name, n.Content[i+1])
	}
}

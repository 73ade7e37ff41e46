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

// head is the front matter of a manifest on its way into a Manifest. The first mistake
// stays.
type head struct {
	file  string
	lines map[string]int
	err   *Problem
	notes []Problem
}

// fault notes a mistake at a field, unless there is one already.
func (h *head) fault(field, format string, args ...any) {
	if h.err == nil {
		p := problem(h.file, h.lines[field], field+": "+format, args...)
		h.err = &p
	}
}

// note is for what has no effect.
func (h *head) note(field, format string, args ...any) {
	p := problem(h.file, h.lines[field], field+": "+format, args...)
	p.Warning = true
	h.notes = append(h.notes, p)
}

// yamlLine is how the parser begins an error.
var yamlLine = regexp.MustCompile(`^yaml: (?:line \d+: )?`)

// maxLook bounds the text whose mistake is looked for line by line, in bytes.
const maxLook = 8 << 10

// mistakeLine is the line of a mistake: the first one that makes the parser say the
// same. Its own number is often that of the block around it.
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

// parse reads the front matter and notes the line of every field.
func (h *head) parse(text string) *yaml.Node {
	if len(text) > maxFrontMatter {
		p := problem(h.file, 1, "its front matter is larger than %d bytes", maxFrontMatter)
		h.err = &p
		return nil
	}
	document, err := skills.FrontMatter(text)
	if err != nil {
		p := problem(h.file, mistakeLine(text, err), "its front matter is no YAML: %s", yamlLine.ReplaceAllString(err.Error(), ""))
		h.err = &p
		return nil
	}
	if len(document.Content) == 0 {
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		p := problem(h.file, max(top.Line, 1), "its front matter is no list of fields")
		h.err = &p
		return nil
	}
	nodes := 0
	if err := h.index(top, "", &nodes); err != nil {
		p := problem(h.file, err.line, "%v", err.err)
		h.err = &p
		return nil
	}
	return top
}

// lineError is an error at a line.
type lineError struct {
	line int
	err  error
}

// index notes where each field stands, and refuses what no manifest needs and what
// could take long to read.
func (h *head) index(n *yaml.Node, field string, nodes *int) *lineError {
	if *nodes++; *nodes > maxNodes {
		return &lineError{n.Line, fmt.Errorf("its front matter holds more than %d values", maxNodes)}
	}
	h.lines[field] = n.Line
	switch n.Kind {
	case yaml.AliasNode:
		return &lineError{n.Line, errors.New("an alias (*name) is not taken here; write the value out")}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			if err := h.index(item, fmt.Sprintf("%s[%d]", field, i), nodes); err != nil {
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
			if _, twice := h.lines[name]; twice {
				return &lineError{key.Line, fmt.Errorf("%s is set twice; keep one", name)}
			}
			if err := h.index(value, name, nodes); err != nil {
				return err
			}
			h.lines[name] = key.Line
		}
	}
	return nil
}

// empty reports a field without a value.
func empty(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func (h *head) text(field string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		h.fault(field, "expects a text")
		return ""
	}
	if empty(n) {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

func (h *head) truth(field string, n *yaml.Node) (value bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Decode(&value) != nil {
		h.fault(field, "expects true or false")
	}
	return value
}

// count is a whole number from 0 to most.
func (h *head) count(field string, n *yaml.Node, most int) int {
	value, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || value < 0 || value > most {
		h.fault(field, "expects a whole number from 0 to %d", most)
		return 0
	}
	return value
}

// number is a number from 0 to most.
func (h *head) number(field string, n *yaml.Node, most float64) float64 {
	value, err := strconv.ParseFloat(n.Value, 64)
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" || err != nil || !(value >= 0 && value <= most) {
		h.fault(field, "expects a number from 0 to %v", most)
		return 0
	}
	return value
}

func (h *head) duration(field string, n *yaml.Node) time.Duration {
	value, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || value < 0 {
		h.fault(field, `expects a time with a unit, such as "90s" or "5m"`)
		return 0
	}
	return value
}

// names is a list of names, or one text with commas between them. It is never nil.
func (h *head) names(field string, n *yaml.Node) []string {
	list := []string{}
	switch {
	case empty(n):
	case n.Kind == yaml.ScalarNode:
		for _, name := range splitNames(n.Value) {
			h.lines[fmt.Sprintf("%s[%d]", field, len(list))] = h.lines[field]
			list = append(list, name)
		}
	case n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			list = append(list, h.text(fmt.Sprintf("%s[%d]", field, i), item))
		}
	default:
		h.fault(field, "expects a list of names, or one text with commas between them")
	}
	if i := slices.Index(list, ""); i >= 0 {
		h.fault(field, "expects names, found an empty text")
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

// each calls f for every field of a mapping.
func (h *head) each(field string, n *yaml.Node, f func(field, name string, value *yaml.Node)) {
	if empty(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		h.fault(field, "expects fields, one a line")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		at := name
		if field != "" {
			at = field + "." + name
		}
		f(at, name, n.Content[i+1])
	}
}

package mount

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/tools/bridge"
)

// described is what an executable answers to describe. It says what the model
// reads, and which subagents are told of it; what the tool may do is said by
// tool.json and the user's settings alone.
type described struct {
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	InputSchema   json.RawMessage `json:"inputSchema"`
	Parameters    json.RawMessage `json:"parameters"`
	Args          map[string]arg  `json:"args"`
	SubagentTypes []string        `json:"subagentTypes"`

	// lines are the names of the arguments, in their order, of a description in
	// lines: its program reads them as lines, too.
	lines []string
}

// arg is an argument in the short form: ["string", "what it is"].
type arg struct {
	Type, Description string
	optional          bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *arg) UnmarshalJSON(raw []byte) error {
	var pair []string
	if err := json.Unmarshal(raw, &pair); err != nil || len(pair) == 0 || len(pair) > 2 {
		return fmt.Errorf(`an argument in "args" must be ["type", "description"], not %.80s`, raw)
	}
	text := ""
	if len(pair) == 2 {
		text = pair[1]
	}
	var known bool
	if *a, known = newArg(pair[0], text); !known {
		return fmt.Errorf("arguments are of type %s, not %.80q", strings.Join(argTypes(), ", "), pair[0])
	}
	return nil
}

// argTypes are the types of arguments in the short forms.
func argTypes() []string {
	return []string{"string", "number", "integer", "boolean", "array", "object"}
}

// newArg is an argument of a type, which may be marked as optional there or at the
// beginning of its description. known is false for a type that there is not.
func newArg(kind, text string) (a arg, known bool) {
	kind, a.optional = strings.CutSuffix(kind, "?")
	for _, mark := range []string{"(optional)", "optional "} {
		if rest, marked := strings.CutPrefix(text, mark); marked {
			text, a.optional = strings.TrimSpace(rest), true
			break
		}
	}
	if text == "optional" {
		text, a.optional = "", true
	}
	a.Type, a.Description = kind, text
	return a, slices.Contains(argTypes(), kind)
}

// parseDescription reads what an executable said of itself: a JSON object, or
// lines of a name, a colon and a value.
func parseDescription(stdout []byte) (described, error) {
	var d described
	stdout = bytes.TrimSpace(bytes.TrimPrefix(stdout, []byte("\ufeff")))
	if len(stdout) > 0 && !bytes.HasPrefix(stdout, []byte("{")) && !bytes.HasPrefix(stdout, []byte("[")) {
		return parseLines(string(stdout))
	}
	if err := json.Unmarshal(stdout, &d); err != nil {
		return d, fmt.Errorf("describe must answer with one JSON object with name and description, or with lines: %w", err)
	}
	if d.Args == nil {
		return d, nil
	}
	if d.InputSchema != nil || d.Parameters != nil {
		return d, errors.New("args and a schema mean the same: give one of them")
	}
	d.InputSchema = schemaOf(d.Args)
	return d, nil
}

func parseLines(text string) (described, error) {
	d := described{lines: []string{}, Args: map[string]arg{}}
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || !argName(name) {
			return d, fmt.Errorf("describe: line %d is neither JSON nor a name, a colon and a value: %.80q", i+1, line)
		}
		if err := d.line(name, value); err != nil {
			return d, fmt.Errorf("describe: line %d: %w", i+1, err)
		}
	}
	d.InputSchema = schemaOf(d.Args)
	return d, nil
}

// line takes one line of a description.
func (d *described) line(name, value string) error {
	said := func(once *string) error {
		if *once != "" {
			return fmt.Errorf("%q stands twice", name)
		}
		*once = value
		return nil
	}
	switch name {
	case "name":
		return said(&d.Name)
	case "description":
		return said(&d.Description)
	case "subagentTypes":
		d.SubagentTypes = []string{}
		for _, one := range strings.Split(value, ",") {
			if one = strings.TrimSpace(one); one != "" {
				d.SubagentTypes = append(d.SubagentTypes, one)
			}
		}
		return nil
	}
	if _, twice := d.Args[name]; twice {
		return fmt.Errorf("%q stands twice", name)
	}
	kind, text, _ := strings.Cut(value, " ")
	a, known := newArg(kind, strings.TrimSpace(text))
	if !known { // no type is given, so it is text
		a, _ = newArg("string", value)
	}
	d.Args[name], d.lines = a, append(d.lines, name)
	return nil
}

// argName reports a name that can stand before a colon.
func argName(name string) bool {
	const set = letters + "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && len(name) <= maxName && strings.Trim(name, set) == ""
}

// schemaOf is the schema of arguments in the short form. Others than these are
// not allowed.
func schemaOf(args map[string]arg) json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for name, a := range args {
		property := map[string]string{"type": a.Type}
		if a.Description != "" {
			property["description"] = bridge.Text(a.Description)
		}
		properties[name] = property
		if !a.optional {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	schema := map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	text, err := json.Marshal(schema)
	if err != nil {
		return json.RawMessage("null") // maps of texts have a JSON form
	}
	return text
}

package mount

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"acp-agent/tools"
)

// Plan lists the modules to mount, in order (R8).
type Plan []Entry

// Entry is one module of a plan.
type Entry struct {
	// Module is its name: lower-case letters, digits, "_" and "-".
	Module string `json:"module"`
	// Source is where it comes from: "builtin" (or empty), or a local directory.
	Source string `json:"source,omitempty"`
	// Config is the module's own, a JSON object; nil means that there is none.
	Config json.RawMessage `json:"config,omitempty"`
	// At is the place in the file, "name:line:column", for messages.
	At string `json:"-"`
}

// With returns the plan with the agent's own tools, which are mounted like any others: each
// stands where it always stands, as the module that the plan has of it, or else as one
// without config. What else the plan names follows.
func (p Plan) With(own []tools.Tool) Plan {
	rest := slices.Clone(p)
	var whole Plan
	for _, tool := range own {
		entry := Entry{Module: tool.ID}
		if at := slices.IndexFunc(rest, func(e Entry) bool { return e.Module == tool.ID && e.builtin() }); at >= 0 {
			entry = rest[at]
			rest = slices.Delete(rest, at, at+1)
		}
		whole = append(whole, entry)
	}
	return append(whole, rest...)
}

// builtin reports whether the module is one that the caller has.
func (e Entry) builtin() bool { return e.Source == "" || e.Source == builtinSource }

// PlanError is a mistake in the text of a plan.
type PlanError struct {
	// File is the name that ParsePlan was given. Line and Column count from 1 and
	// are 0 when the place is not known.
	File         string
	Line, Column int
	// Problem says what is wrong and what is expected instead.
	Problem string
}

// Error implements error: file:line:column: problem.
func (e *PlanError) Error() string { return e.at() + ": " + e.Problem }

func (e *PlanError) at() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Column)
}

// maxPlan bounds the text of a plan, in bytes: its parsers descend by recursion.
const maxPlan = 256 << 10

// ParsePlan reads a mount plan: an object whose only key, "tools", is a list of
// {module, source, config}. The text is YAML, or JSON with comments when its
// name ends in .json or .jsonc or it begins with "{" or "//". name stands in
// errors. A key that is unknown or stands twice, a value of the wrong type, and
// anchors are a *PlanError. That a module stands twice is its own failure, see
// Run.
func ParsePlan(data []byte, name string) (Plan, error) {
	p := planFile{name}
	if len(data) > maxPlan {
		return nil, &PlanError{File: name, Problem: fmt.Sprintf("is larger than %d bytes", maxPlan)}
	}
	root, err := p.parse(data)
	if err != nil {
		return nil, err
	}
	list, err := p.fields(root, "a mount plan", "tools")
	if err != nil {
		return nil, err
	}
	tools, ok := list["tools"]
	if !ok {
		return nil, p.errorf(root, `a mount plan needs the key "tools"`)
	}
	if tools.kind == scalar && tools.text == "null" {
		return nil, nil
	}
	if tools.kind != sequence {
		return nil, p.errorf(tools, `"tools" must be a list of {module, source, config}`)
	}
	var plan Plan
	for _, item := range tools.items {
		entry, err := p.entry(item)
		if err != nil {
			return nil, err
		}
		plan = append(plan, entry)
	}
	return plan, nil
}

type planFile struct{ name string }

func (p planFile) errorf(at node, format string, args ...any) error {
	return &PlanError{File: p.name, Line: at.line, Column: at.column, Problem: fmt.Sprintf(format, args...)}
}

// fields are the values of a mapping that may have only these keys.
func (p planFile) fields(n node, what string, legal ...string) (map[string]node, error) {
	if n.kind != mapping {
		return nil, p.errorf(n, "%s must be an object with %s", what, strings.Join(legal, ", "))
	}
	fields := map[string]node{}
	for _, key := range n.keys {
		known := false
		for _, name := range legal {
			known = known || name == key.name
		}
		if !known {
			return nil, p.errorf(key.at, "unknown key %q; %s has %s", key.name, what, strings.Join(legal, ", "))
		}
		fields[key.name] = key.value
	}
	return fields, nil
}

func (p planFile) entry(n node) (Entry, error) {
	e := Entry{At: (&PlanError{File: p.name, Line: n.line, Column: n.column}).at()}
	fields, err := p.fields(n, "a module", "module", "source", "config")
	if err != nil {
		return e, err
	}
	for key, to := range map[string]*string{"module": &e.Module, "source": &e.Source} {
		value, given := fields[key]
		if given && (value.kind != scalar || json.Unmarshal([]byte(value.text), to) != nil || value.text == "null") {
			return e, p.errorf(value, "%q must be a string", key)
		}
	}
	if e.Module == "" {
		return e, p.errorf(n, `"module" is missing`)
	}
	if config, given := fields["config"]; given {
		if config.kind != mapping {
			return e, p.errorf(config, `"config" must be an object`)
		}
		e.Config = config.json()
	}
	return e, nil
}

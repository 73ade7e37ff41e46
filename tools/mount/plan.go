package mount

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/strictread"
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
	fields, err := p.fields(root, "a mount plan", "tools")
	if err != nil {
		return nil, err
	}
	list, given := fields["tools"]
	switch {
	case !given:
		return nil, p.errorf(root.At, `a mount plan needs the key "tools"`)
	case list.Kind == strictread.Null:
		return nil, nil
	case list.Kind != strictread.List:
		return nil, p.errorf(list.At, `"tools" must be a list of {module, source, config}`)
	}
	var plan Plan
	for _, item := range list.Items {
		entry, err := p.entry(item)
		if err != nil {
			return nil, err
		}
		plan = append(plan, entry)
	}
	return plan, nil
}

type planFile struct{ name string }

func (p planFile) parse(data []byte) (*strictread.Node, error) {
	start := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	if len(start) == 0 {
		return nil, &PlanError{File: p.name, Problem: "is empty"}
	}
	read, ext := strictread.YAML, strings.ToLower(filepath.Ext(p.name))
	if ext == ".json" || ext == ".jsonc" || bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("//")) {
		read = strictread.JSONC
	}
	root, err := read(data)
	if mistake, ok := errors.AsType[*strictread.Error](err); ok {
		return nil, &PlanError{File: p.name, Line: mistake.Line, Column: mistake.Column, Problem: mistake.Text()}
	}
	return root, err
}

func (p planFile) errorf(at strictread.Position, format string, args ...any) error {
	return &PlanError{File: p.name, Line: at.Line, Column: at.Column, Problem: fmt.Sprintf(format, args...)}
}

// fields are the values of an object that may have only these keys.
func (p planFile) fields(n *strictread.Node, what string, legal ...string) (map[string]*strictread.Node, error) {
	if n.Kind != strictread.Object {
		return nil, p.errorf(n.At, "%s must be an object with %s", what, strings.Join(legal, ", "))
	}
	fields := map[string]*strictread.Node{}
	for _, m := range n.Members {
		if !slices.Contains(legal, m.Name) {
			return nil, p.errorf(m.At, "unknown key %q; %s has %s", m.Name, what, strings.Join(legal, ", "))
		}
		fields[m.Name] = m.Value
	}
	return fields, nil
}

func (p planFile) entry(n *strictread.Node) (Entry, error) {
	e := Entry{At: (&PlanError{File: p.name, Line: n.At.Line, Column: n.At.Column}).at()}
	fields, err := p.fields(n, "a module", "module", "source", "config")
	if err != nil {
		return e, err
	}
	for key, to := range map[string]*string{"module": &e.Module, "source": &e.Source} {
		value, given := fields[key]
		switch {
		case !given:
		case value.Kind != strictread.Text:
			return e, p.errorf(value.At, "%q must be a string", key)
		default:
			*to = value.Text
		}
	}
	if e.Module == "" {
		return e, p.errorf(n.At, `"module" is missing`)
	}
	if config, given := fields["config"]; given {
		if config.Kind != strictread.Object {
			return e, p.errorf(config.At, `"config" must be an object`)
		}
		e.Config = config.JSON()
	}
	return e, nil
}

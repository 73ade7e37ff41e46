package tools

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// Registry finds tools by their canonical id or an alias. It is built once, by NewRegistry
// or With, and then only read; safe for concurrent use after that.
type Registry struct {
	tools   map[string]*Entry
	names   map[string]alias
	ordered []*Entry
	// foreign are the names of other agents, folded; see Accepts.
	foreign map[string][]foreignName
}

// Entry is a registered tool with what was derived from its Spec.
type Entry struct {
	Tool
	schema   func() (json.RawMessage, error)
	resolved func() (*jsonschema.Resolved, error)
	// variants are the schemas of Spec.Variants, compiled.
	variants map[string]*Entry
}

// Schema is Spec.Parameters as the model is sent it.
func (e *Entry) Schema() json.RawMessage {
	raw, err := e.schema()
	if err != nil {
		return json.RawMessage(`{"type":"object"}`) // compile checks that there is no error
	}
	return raw
}

type alias struct {
	id string
	Alias
	// own checks arguments against the alias's schema; nil means that it has none.
	own *Entry
}

// isID reports whether a name is snake_case and of a length that models accept.
func isID(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return name != "" && len(name) <= 64 && strings.Contains(letters, name[:1]) && strings.Trim(name, letters+"0123456789_") == ""
}

// isServerID reports whether the id of an MCP tool is valid: it is made of names that its server
// chose, in the characters that models accept (R89).
func isServerID(tool Tool) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return tool.Source.Kind == MCP && strings.HasPrefix(tool.ID, "mcp__") && len(tool.ID) <= 64 && strings.Trim(tool.ID, letters) == ""
}

// NewRegistry registers tools in order. It refuses a tool without id,
// description or function, with a schema that is not an object's, or whose id
// or alias is taken (R1, R8).
func NewRegistry(list ...Tool) (*Registry, error) {
	r := &Registry{tools: map[string]*Entry{}, names: map[string]alias{}, foreign: map[string][]foreignName{}}
	for _, tool := range list {
		if err := r.add(tool); err != nil {
			return nil, fmt.Errorf("register tool %q: %w", tool.ID, err)
		}
	}
	return r, nil
}

// With returns a registry that has more tools, and leaves r as it is. A tool that
// NewRegistry would refuse is left out, with the reason in refused; an alias that is taken
// is left out alone: tools that come later are from elsewhere, and cannot take a name away (M4).
func (r *Registry) With(list ...Tool) (more *Registry, refused []error) {
	more = &Registry{tools: maps.Clone(r.tools), names: maps.Clone(r.names), ordered: slices.Clip(r.ordered), foreign: r.foreign}
	for _, tool := range list {
		tool.Aliases = slices.DeleteFunc(slices.Clone(tool.Aliases), func(a Alias) bool {
			_, taken := more.names[a.Name]
			return taken
		})
		if err := more.add(tool); err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", tool.ID, err))
		}
	}
	return more, refused
}

func (r *Registry) add(tool Tool) error {
	switch {
	case !isID(tool.ID) && !isServerID(tool):
		return errors.New("id must be snake_case, at most 64 characters")
	case strings.TrimSpace(tool.Description) == "":
		return errors.New("description is missing")
	case tool.Run == nil:
		return errors.New("function is missing")
	}
	entry := &Entry{Tool: tool}
	if err := entry.compile(); err != nil {
		return err
	}
	if err := r.name(tool.ID, alias{id: tool.ID}); err != nil {
		return err
	}
	for _, a := range tool.Aliases {
		own, err := a.entry()
		if err == nil {
			err = r.name(a.Name, alias{id: tool.ID, Alias: a, own: own})
		}
		if err != nil {
			return fmt.Errorf("alias %q: %w", a.Name, err)
		}
	}
	r.addForeign(entry)
	r.tools[tool.ID] = entry
	r.ordered = append(r.ordered, entry)
	return nil
}

func (r *Registry) name(name string, a alias) error {
	if taken, ok := r.names[name]; ok {
		return fmt.Errorf("name %q already belongs to %s", name, taken.id)
	}
	r.names[name] = a
	return nil
}

// entry returns an Entry that checks arguments against the alias's own schema; nil when it has none.
func (a Alias) entry() (*Entry, error) {
	if a.Parameters == nil {
		return nil, nil
	}
	own := &Entry{Tool: Tool{Spec: Spec{ID: a.Name, Parameters: a.Parameters}}}
	return own, own.compile()
}

// compile prepares the schema. The tests check the schemas of the agent's own tools, and resolving
// all of them would cost every start a millisecond, so each is resolved when its tool is first
// called. A schema from elsewhere is checked now.
func (e *Entry) compile() error {
	schema := e.Parameters
	if schema == nil {
		schema = &jsonschema.Schema{Type: "object"}
	}
	if schema.Type != "object" {
		return errors.New("parameters must be an object schema")
	}
	shown := cmp.Or(e.Shown, schema)
	if err := e.compileVariants(); err != nil {
		return err
	}
	e.schema = sync.OnceValues(func() (json.RawMessage, error) { return json.Marshal(shown) })
	e.resolved = sync.OnceValues(func() (*jsonschema.Resolved, error) { return schema.Resolve(nil) })
	if !e.Foreign() {
		return nil
	}
	return e.sound()
}

func (e *Entry) compileVariants() error {
	if len(e.Variants) > 0 {
		e.variants = map[string]*Entry{}
	}
	for name, schema := range e.Variants {
		variant := &Entry{Tool: Tool{Spec: Spec{ID: e.ID, Parameters: schema}}}
		if err := variant.compile(); err != nil {
			return err
		}
		e.variants[name] = variant
	}
	return nil
}

// sound reports what is wrong with the schema (R1).
func (e *Entry) sound() error {
	raw, err := e.schema()
	if err != nil {
		return fmt.Errorf("encode parameters: %w", err)
	}
	if err := CheckSchemaLoops(raw); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	if _, err := e.resolved(); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	return nil
}

// All returns the tools in the order they were registered.
func (r *Registry) All() []*Entry { return r.ordered }

// Get returns a tool by its canonical id.
func (r *Registry) Get(id string) (*Entry, bool) {
	entry, ok := r.tools[id]
	return entry, ok
}

// Has reports whether a name stands for a tool.
func (r *Registry) Has(name string) bool {
	_, ok := r.names[name]
	return ok
}

// Canonical returns the id that a name stands for, and the name itself when it
// stands for nothing.
func (r *Registry) Canonical(name string) string {
	if a, ok := r.names[name]; ok {
		return a.id
	}
	if entry, _, err := r.fromElsewhere(name, nil, nil); err == nil {
		return entry.ID
	}
	return name
}

// Resolve finds the tool a name stands for and renames the arguments to the
// canonical ones (R16-R18). An unknown name is an *Error that lists names near
// it (R11), of those tools that offered admits; nil admits all. An argument given under two
// names with different values is an *Error too.
func (r *Registry) Resolve(name string, args json.RawMessage, offered func(*Entry) bool) (*Entry, json.RawMessage, error) {
	a, ok := r.names[name]
	if !ok {
		return r.fromElsewhere(name, args, offered)
	}
	entry := r.tools[a.id]
	mapped, err := a.translate(entry, args)
	return entry, mapped, err
}

// translate turns arguments as they were given under a name into those of the
// tool (R17).
func (a alias) translate(entry *Entry, args json.RawMessage) (json.RawMessage, error) {
	if !json.Valid(args) {
		return entry.freeform(args), nil // the schema check says what is wrong
	}
	if a.own != nil {
		if err := a.own.Validate(NewArgs(args)); err != nil {
			return nil, err
		}
	}
	renames := entry.Renames
	if len(a.Renames) > 0 {
		renames = maps.Clone(a.Renames)
		for from, to := range entry.Renames {
			if _, set := renames[from]; !set {
				renames[from] = to
			}
		}
	}
	mapped, err := rename(args, renames)
	if err != nil || a.Map == nil {
		return mapped, err
	}
	return a.Map(mapped)
}

func rename(args json.RawMessage, renames map[string]string) (json.RawMessage, error) {
	if !mentions(args, renames) {
		return args, nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(args, &object); err != nil || object == nil {
		return args, nil // the schema check names what is wrong
	}
	changed := false
	for _, from := range slices.Sorted(maps.Keys(renames)) {
		to := renames[from]
		value, given := object[from]
		if !given || from == to {
			continue
		}
		if old, both := object[to]; both && !sameJSON(old, value) {
			return nil, Errorf(BadInput, "%q and %q mean the same argument but were given different values", from, to)
		}
		if _, both := object[to]; !both {
			object[to] = value
		}
		delete(object, from)
		changed = true
	}
	if !changed {
		return args, nil
	}
	return json.Marshal(object)
}

// mentions reports whether one of the names may occur in a JSON text, which need not be
// parsed otherwise.
func mentions(text json.RawMessage, renames map[string]string) bool {
	for from := range renames {
		if bytes.Contains(text, []byte(`"`+from+`"`)) {
			return true
		}
	}
	return len(renames) > 0 && bytes.Contains(text, []byte(`\u`)) // a name may be escaped
}

// maxNear bounds the similar names that suggest lists.
const maxNear = 10

// suggest lists the names closest to one that is unknown, or all of them but those of MCP
// servers, of which there may be hundreds. Tools that are not offered are not among them.
func (r *Registry) suggest(name string, offered func(*Entry) bool) string {
	var ids, near []string
	folded := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for _, entry := range r.ordered {
		id := entry.ID
		if offered != nil && !offered(entry) {
			continue
		}
		if entry.Source.Kind != MCP {
			ids = append(ids, id)
		}
		if folded != "" && len(near) < maxNear && (strings.Contains(folded, id) || strings.Contains(id, folded)) {
			near = append(near, id)
		}
	}
	if len(near) > 0 {
		return "did you mean " + strings.Join(near, ", ") + "?"
	}
	if len(ids) == 0 {
		return ""
	}
	return "the tools are " + strings.Join(ids, ", ")
}

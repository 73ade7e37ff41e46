package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"acp-agent/tools"
)

// T is the part of testing.TB that Conform needs.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Conform fails t for every rule that the tool breaks.
func Conform(t T, tool tools.Tool) {
	t.Helper()
	for _, problem := range Check(tool) {
		t.Errorf("%s: %s", tool.ID, problem)
	}
}

// Check lists the rules of the tool contract that a tool breaks (R164): its
// names and schema are sound; faulty arguments under every name are BadInput
// and name what is wrong; its pure functions bear any arguments; and a call
// that is cancelled already returns without a panic and without effects.
func Check(tool tools.Tool) []string {
	registry, err := tools.NewRegistry(tool)
	if err != nil {
		return []string{err.Error()}
	}
	entry, _ := registry.Get(tool.ID)
	c := &checker{tool: entry.Tool}
	c.structure(entry)
	names := []string{tool.ID}
	for _, a := range tool.Aliases {
		names = append(names, a.Name)
	}
	for _, name := range names {
		c.badArguments(name)
	}
	c.pureFunctions()
	c.cancelled()
	return c.problems
}

type checker struct {
	tool     tools.Tool
	problems []string
}

func (c *checker) report(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) structure(entry *tools.Entry) {
	var schema struct {
		Type       string
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(entry.Schema(), &schema); err != nil || schema.Type != "object" {
		c.report("schema is not an object's: %s", entry.Schema())
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if schema.Properties[name].Description == "" {
			c.report("argument %q has no description", name)
		}
	}
	if !c.tool.Kind.Valid() && !c.tool.Foreign() {
		c.report("it declares no kind")
	}
	if c.tool.Profile != nil && c.tool.Profile.Serial && c.tool.Profile.Keys != nil {
		c.report("profile is serial and has keys: the keys are never read")
	}
}

// badArguments tries every way in which arguments can break the schema.
func (c *checker) badArguments(name string) {
	c.refused(name, `{"`, "JSON")
	c.refused(name, ``, "JSON")
	c.refused(name, `[]`, "object")
	c.refused(name, `null`, "object")
	if c.tool.Parameters == nil {
		return
	}
	valid := c.sample()
	for _, field := range c.tool.Parameters.Required {
		lacking := maps.Clone(valid)
		delete(lacking, field)
		if _, ready, err := c.prepare(name, encode(lacking)); err == nil && ready.Object()[field] != nil {
			continue // another form of the call, in which the tool fills it in
		}
		c.refused(name, encode(lacking), field)
	}
	if forbidsOthers(c.tool.Parameters) {
		c.refused(name, encode(with(valid, "unheard_of", 1)), "unheard_of")
	}
	for field, schema := range c.tool.Parameters.Properties {
		if schema.Type != "" {
			c.refused(name, encode(with(valid, field, wrong(schema.Type))), field)
		}
	}
}

func (c *checker) refused(name, args, mention string) {
	_, _, err := c.prepare(name, args)
	toolError, ok := asToolError(err)
	switch {
	case err == nil:
		c.report("%s accepts %s", name, args)
	case !ok:
		c.report("%s(%s) is not a *tools.Error: %v", name, args, err)
	case toolError.Kind != tools.BadInput:
		c.report("%s(%s) has kind %s, want %s", name, args, toolError.Kind, tools.BadInput)
	case !strings.Contains(toolError.Error(), mention):
		c.report("%s(%s) does not name %q: %v", name, args, mention, toolError)
	}
}

func (c *checker) prepare(name, args string) (entry *tools.Entry, ready tools.Args, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return Prepare(c.tool, name, args, New(Options{}).Sess.Env)
}

// pureFunctions calls what the pipeline calls before any check has passed, and
// what it calls with sound arguments.
func (c *checker) pureFunctions() {
	env := New(Options{}).Sess.Env
	for _, args := range []string{encode(c.sample()), `{}`, `{"path":7,"cmd":[],"pattern":null,"filePattern":{}}`, `[]`, `null`, `{"`, ``} {
		c.guard("with "+args, func() {
			raw := tools.NewArgs(args)
			if object := raw.Object(); c.tool.Preprocess != nil && object != nil {
				_ = c.tool.Preprocess(maps.Clone(object), env)
			}
			if c.tool.Resources != nil {
				c.tool.Resources(raw, env)
			}
			if c.tool.Profile != nil && c.tool.Profile.Keys != nil {
				c.tool.Profile.Keys(raw, env)
			}
			if card := c.tool.Card(raw, env.Place); card.Title == "" || strings.ContainsAny(card.Title, "\r\x1b") || !card.Kind.Valid() {
				c.report("its card with %s has the title %q and the kind %q", args, card.Title, card.Kind)
			}
		})
	}
}

func (c *checker) guard(what string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			c.report("panic %s: %v", what, p)
		}
	}()
	f()
}

func (c *checker) cancelled() {
	_, ready, err := c.prepare(c.tool.ID, encode(c.sample()))
	if denied, ok := asToolError(err); ok && denied.Kind == tools.Denied {
		return // by the user's own settings of the tool, which no sample can know
	}
	if err != nil {
		c.report("refuses arguments that fit its schema: %v", err)
		return
	}
	rt := New(Options{Processes: []Script{{Output: []string{"x"}}}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := rt.call(ctx, c.tool, ready); err != nil && strings.Contains(err.Error(), "panicked") {
		c.report("when cancelled: %v", err)
	}
	if written := rt.Mem.Writes(); len(written) > 0 {
		c.report("writes %v although the call was cancelled before it began", written)
	}
	if calls := rt.Procs.Calls(); len(calls) > 0 {
		c.report("runs %v although the call was cancelled before it began", calls)
	}
}

// sample makes arguments that fit the schema: the required ones.
func (c *checker) sample() map[string]any {
	args := map[string]any{}
	if c.tool.Parameters == nil {
		return args
	}
	for _, name := range c.tool.Parameters.Required {
		args[name] = sampleOf(name, c.tool.Parameters.Properties[name])
	}
	return args
}

func sampleOf(name string, schema *jsonschema.Schema) any {
	switch {
	case schema == nil:
		return name
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	}
	switch schema.Type {
	case "number", "integer":
		return 1
	case "boolean":
		return true
	case "array":
		least := 1
		if schema.MinItems != nil {
			least = *schema.MinItems
		}
		items := make([]any, least)
		for i := range items {
			items[i] = sampleOf(name, schema.Items)
		}
		return items
	case "object":
		object := map[string]any{}
		for _, field := range schema.Required {
			object[field] = sampleOf(field, schema.Properties[field])
		}
		return object
	}
	return name
}

// wrong is a value that is not of the type.
func wrong(typ string) any {
	if typ == "object" {
		return "text"
	}
	return map[string]any{"wrong": "type"}
}

func with(args map[string]any, name string, value any) map[string]any {
	changed := maps.Clone(args)
	changed[name] = value
	return changed
}

func encode(args map[string]any) string {
	text, err := json.Marshal(args)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func forbidsOthers(schema *jsonschema.Schema) bool {
	text, err := json.Marshal(schema.AdditionalProperties)
	return schema.AdditionalProperties != nil && err == nil && (string(text) == "false" || string(text) == `{"not":{}}`)
}

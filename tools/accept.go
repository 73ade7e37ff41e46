package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Accept turns arguments as a model wrote them, under a name of the tool, into
// arguments that fit its schema, as far as they can mean one thing only. What
// is left out without a loss is named in left. Arguments that fit already come
// back as they are, byte for byte; what is not understood stays, and Validate
// names it.
func (e *Entry) Accept(name string, raw json.RawMessage) (args Args, left []string, err error) {
	value, err := strictJSON(raw)
	if err != nil {
		return NewArgs(raw), nil, nil
	}
	args = argsOf(raw, value, 1)
	a := acceptance{entry: e, own: e.foreignFields(name)}
	object, ok := a.object(cloneJSON(value))
	if !ok {
		return args, nil, nil
	}
	// The arguments of a tool from elsewhere are what its schema says, whatever other agents call them.
	if !e.Foreign() {
		err = a.rename(object, e.Parameters, "")
		if err == nil && e.Accepts != nil && e.Accepts.Finish != nil {
			err = e.Accepts.Finish(object)
		}
	}
	if err != nil {
		return Args{}, nil, err
	}
	if schema := e.variant(object).Parameters; schema != nil {
		a.properties(object, schema, "")
	}
	if a.failed != nil {
		return Args{}, nil, a.failed
	}
	args, err = args.with(object)
	return args, a.leftOut, err
}

// RunPreprocess takes accepted arguments through the tool's Preprocess. What is not an object
// comes back as it is, and Validate says so.
func (e *Entry) RunPreprocess(args Args, env Env) (Args, error) {
	object := args.Object()
	if e.Preprocess == nil || object == nil {
		return args, nil
	}
	changed := maps.Clone(object)
	if err := e.Preprocess(changed, env); err != nil {
		return args, err
	}
	return args.with(changed)
}

// with returns the arguments with another object as their value: they themselves when it
// says the same.
func (a Args) with(object map[string]any) (Args, error) {
	if value, err := a.Value(); err == nil && reflect.DeepEqual(value, any(object)) {
		return a, nil
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return Args{}, err
	}
	return argsOf(raw, object, a.Parses()), nil
}

// cloneJSON returns a copy of a JSON value that can be changed.
func cloneJSON(value any) any {
	switch value := value.(type) {
	case []any:
		list := make([]any, len(value))
		for i, v := range value {
			list[i] = cloneJSON(v)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, v := range value {
			object[name] = cloneJSON(v)
		}
		return object
	}
	return value
}

// freeform is a bare text as the argument that it is, when the tool is known to be
// called so.
func (e *Entry) freeform(text json.RawMessage) json.RawMessage {
	if e.Accepts == nil || e.Accepts.Freeform == "" || !strings.HasPrefix(strings.TrimSpace(string(text)), e.Accepts.Freeform) {
		return text
	}
	args, err := json.Marshal(map[string]string{e.Accepts.Sole: string(text)})
	if err != nil {
		return text
	}
	return args
}

// acceptance is one set of arguments on its way to what the schema describes.
type acceptance struct {
	entry   *Entry
	own     map[string]Field
	leftOut []string
	// failed is what is wrong with a field within a list.
	failed error
}

// object takes the object out of what models wrap it in: a text, a list of one, an
// envelope that repeats the name of the tool.
func (a *acceptance) object(value any) (map[string]any, bool) {
	for range 3 {
		switch v := value.(type) {
		case string:
			inner, err := jsonIn(v)
			if _, isObject := inner.(map[string]any); err == nil && isObject {
				value = inner
				break
			}
			if a.entry.Accepts == nil || a.entry.Accepts.Sole == "" || err == nil {
				return nil, false
			}
			value = map[string]any{a.entry.Accepts.Sole: v}
		case []any:
			if len(v) != 1 {
				return nil, false
			}
			if _, isObject := v[0].(map[string]any); !isObject {
				return nil, false
			}
			value = v[0]
		case map[string]any:
			inner, wrapped := a.unwrap(v)
			if !wrapped {
				return v, true
			}
			value = inner
		default:
			return nil, false
		}
	}
	object, ok := value.(map[string]any)
	return object, ok
}

// envelopes are the members under which models repeat the arguments.
var envelopes = []string{"arguments", "parameters", "params", "args", "input", "tool_input", "properties", "raw_arguments", "_raw"}

// unwrap is what an envelope holds. One that names another tool is none.
func (a *acceptance) unwrap(object map[string]any) (any, bool) {
	for _, key := range envelopes {
		inner, has := object[key]
		if !has || a.known(key) {
			continue
		}
		if text, isText := inner.(string); isText {
			value, err := jsonIn(text)
			if _, isObject := value.(map[string]any); err != nil || !isObject {
				continue
			}
		} else if _, isObject := inner.(map[string]any); !isObject {
			continue
		}
		for other, value := range object {
			name, _ := value.(string)
			if other != key && (other != "name" && other != "tool" && other != "function" || !a.entry.answersTo(name)) {
				return nil, false
			}
		}
		return inner, true
	}
	return nil, false
}

// known reports whether a key is an argument of the tool itself.
func (a *acceptance) known(key string) bool {
	if a.entry.Parameters == nil {
		return false
	}
	_, own := a.entry.Parameters.Properties[key]
	_, mapped := a.entry.Renames[key]
	return own || mapped
}

func (e *Entry) answersTo(name string) bool {
	if fold(name) == fold(e.ID) {
		return true
	}
	for _, alias := range e.Aliases {
		if fold(alias.Name) == fold(name) {
			return true
		}
	}
	return e.Accepts != nil && slices.ContainsFunc(e.Accepts.Names, func(n ForeignName) bool { return fold(n.Name) == fold(name) })
}

// rename gives foreign arguments their own names, and takes out what is known to
// say nothing.
func (a *acceptance) rename(object map[string]any, schema *jsonschema.Schema, under string) error {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if schema != nil && schema.Properties[name] != nil {
			continue
		}
		value := object[name]
		field, known := a.entry.Accepts.field(a.own, under, name)
		to := ""
		if !known && schema != nil {
			to = spelled(schema, name)
		}
		if to == "" && !known {
			if value == nil {
				a.drop(object, name, "")
			}
			continue
		}
		if known {
			var err error
			if to, value, err = a.apply(field, under+name, value); err != nil {
				return err
			}
			if to == "" {
				a.drop(object, name, field.Drop)
				continue
			}
		}
		if old, both := object[to]; both && to != name && old != nil {
			if value != nil && !reflect.DeepEqual(old, value) {
				return Errorf(BadInput, "%s: %q and %q mean the same argument but were given different values", a.entry.ID, name, to)
			}
			value = old
		}
		delete(object, name)
		object[to] = value
	}
	return nil
}

// apply is what a field becomes: another name and value, or "" to be left out.
func (a *acceptance) apply(field Field, name string, value any) (to string, mapped any, err error) {
	switch {
	case value == nil, field.Drop != "":
		return "", nil, nil
	case field.To == "" && slices.ContainsFunc(field.Neutral, func(n any) bool { return says(value, n) }):
		return "", nil, nil
	case field.To == "":
		return "", nil, Errorf(BadInput, "%s: argument %q: %s", a.entry.ID, name, field.Refuse)
	case field.Map == nil:
		return field.To, value, nil
	}
	mapped, err = field.Map(value)
	if err != nil {
		return "", nil, Errorf(BadInput, "%s: argument %q: %v", a.entry.ID, name, err)
	}
	return field.To, mapped, nil
}

// says reports whether a value is a neutral one, or its text.
func says(value, neutral any) bool {
	text, isText := value.(string)
	if number, isNumber := value.(json.Number); isNumber {
		text, isText = number.String(), true
	}
	return reflect.DeepEqual(value, neutral) || isText && strings.EqualFold(text, fmt.Sprint(neutral)) ||
		reflect.DeepEqual(value, []any{}) && neutral == ""
}

func (a *acceptance) drop(object map[string]any, name, why string) {
	delete(object, name)
	if why != "" {
		a.leftOut = append(a.leftOut, name+" ("+why+")")
	}
}

// spelled is the one argument of a schema that differs from name in case and
// separators alone; "" when there is none.
func spelled(schema *jsonschema.Schema, name string) string {
	found := ""
	for own := range schema.Properties {
		if fold(own) == fold(name) {
			if found != "" {
				return ""
			}
			found = own
		}
	}
	return found
}

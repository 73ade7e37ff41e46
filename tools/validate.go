package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Validate checks arguments against the tool's schema (R4). The error is a
// *Error of kind BadInput that names the offending argument.
func (e *Entry) Validate(args Args) error {
	exact, err := args.Value()
	if err != nil {
		return e.notJSON(err)
	}
	value, err := withFloats(exact)
	if err != nil {
		return e.notJSON(err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return Errorf(BadInput, "the arguments of %s must be a JSON object, not %s", e.ID, jsonType(value))
	}
	e = e.variant(object)
	if missing := e.missing(object); missing != "" {
		return Errorf(BadInput, "%s: required argument %q is missing", e.ID, missing)
	}
	if unknown := e.unknown(object); unknown != "" {
		return &Error{
			Kind: BadInput, Message: fmt.Sprintf("%s: unknown argument %q", e.ID, unknown),
			Hint: "its arguments are " + strings.Join(e.argumentNames(), ", "),
		}
	}
	resolved, err := e.resolved()
	if err != nil {
		return Errorf(Backend, "%s: its parameters are no valid schema: %v", e.ID, err)
	}
	if err := resolved.Validate(value); err != nil {
		return Errorf(BadInput, "%s: %s", e.ID, plainSchemaError(err))
	}
	return nil
}

// notJSON refuses arguments that cannot be parsed.
func (e *Entry) notJSON(err error) error {
	return &Error{
		Kind: BadInput, Message: fmt.Sprintf("the arguments of %s are not valid JSON: %v", e.ID, err),
		Hint: "send one JSON object",
	}
}

// withFloats returns a JSON value with its exact numbers as floats, the type that schemas
// are checked for; a value without numbers is returned as it is.
func withFloats(value any) (any, error) {
	if !holdsNumber(value) {
		return value, nil
	}
	var err error
	switch value := value.(type) {
	case json.Number:
		number, err := value.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %s is out of range", value)
		}
		return number, nil
	case []any:
		list := make([]any, len(value))
		for i, v := range value {
			if list[i], err = withFloats(v); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, v := range value {
			if object[name], err = withFloats(v); err != nil {
				return nil, err
			}
		}
		return object, nil
	}
	return value, nil
}

// holdsNumber reports whether a JSON value is or has an exact number.
func holdsNumber(value any) bool {
	switch value := value.(type) {
	case json.Number:
		return true
	case []any:
		return slices.ContainsFunc(value, holdsNumber)
	case map[string]any:
		for _, v := range value {
			if holdsNumber(v) {
				return true
			}
		}
	}
	return false
}

// variant is the tool as a call with these arguments means it.
func (e *Entry) variant(object map[string]any) *Entry {
	for _, name := range slices.Sorted(maps.Keys(e.variants)) {
		if _, has := object[name]; has {
			return e.variants[name]
		}
	}
	return e
}

func (e *Entry) missing(object map[string]any) string {
	if e.Parameters == nil {
		return ""
	}
	for _, name := range e.Parameters.Required {
		if _, ok := object[name]; !ok {
			return name
		}
	}
	return ""
}

// unknown names an argument that the schema forbids, so that the message can
// say which; jsonschema's own text does not.
func (e *Entry) unknown(object map[string]any) string {
	if e.Parameters == nil || e.Parameters.AdditionalProperties == nil {
		return ""
	}
	if forbids, _ := json.Marshal(e.Parameters.AdditionalProperties); string(forbids) != "false" && string(forbids) != `{"not":{}}` {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if _, ok := e.Parameters.Properties[name]; !ok {
			return name
		}
	}
	return ""
}

func (e *Entry) argumentNames() []string {
	if len(e.Parameters.PropertyOrder) == len(e.Parameters.Properties) {
		return e.Parameters.PropertyOrder
	}
	names := slices.Clone(e.Parameters.Required)
	for _, name := range slices.Sorted(maps.Keys(e.Parameters.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

var schemaPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`validating (\S+): `)
})

// plainSchemaError turns the validator's chain of schema paths into the
// argument's name followed by what is wrong with it.
func plainSchemaError(err error) string {
	text := err.Error()
	matches := schemaPath().FindAllStringSubmatchIndex(text, -1)
	if len(matches) == 0 {
		return text
	}
	last := matches[len(matches)-1]
	// The validator prints null as Go's reflection does.
	path, rest := text[last[2]:last[3]], strings.Replace(text[last[1]:], "<invalid reflect.Value>", "null", 1)
	name := ""
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := 0; i < len(parts); i++ {
		switch {
		case parts[i] == "properties" && i+1 < len(parts):
			i++
			name += "." + parts[i]
		case parts[i] == "items":
			name += "[]"
		}
	}
	if name == "" {
		return rest
	}
	return fmt.Sprintf("argument %q: %s", strings.TrimPrefix(name, "."), rest)
}

func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case float64:
		return "a number"
	case string:
		return "a string"
	default:
		return "an array"
	}
}

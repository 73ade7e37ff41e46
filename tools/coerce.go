package tools

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// properties gives the values of an object the types of its schema, where a value
// can mean one thing only. Under is where the object stands, as in Accepts.Fields.
func (a *acceptance) properties(object map[string]any, schema *jsonschema.Schema, under string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		if object[name] == nil {
			if !slices.Contains(schema.Required, name) && !allowsNull(property) {
				delete(object, name) // null for absent
			}
			continue
		}
		object[name] = a.value(object[name], property, under+name)
	}
}

func allowsNull(schema *jsonschema.Schema) bool {
	return schema.Type == "" || schema.Type == "null"
}

func (a *acceptance) value(value any, schema *jsonschema.Schema, path string) any {
	switch schema.Type {
	case "string":
		return a.text(value, schema)
	case "number", "integer":
		return a.number(value)
	case "boolean":
		return a.flag(value)
	case "array":
		return a.list(value, schema, path)
	case "object":
		return a.member(value, schema, path)
	}
	return value
}

// text takes a number for its digits, a list of one text for the text, and a
// choice in another spelling for the choice.
func (a *acceptance) text(value any, schema *jsonschema.Schema) any {
	switch v := value.(type) {
	case json.Number:
		value = v.String()
	case []any:
		if one, ok := oneText(v); ok {
			value = one
		}
	}
	text, ok := value.(string)
	if !ok || len(schema.Enum) == 0 || slices.Contains(schema.Enum, any(text)) {
		return value
	}
	for _, choice := range schema.Enum {
		if own, ok := choice.(string); ok && fold(own) == fold(text) {
			return own
		}
	}
	return value
}

func oneText(list []any) (string, bool) {
	if len(list) != 1 {
		return "", false
	}
	text, ok := list[0].(string)
	return text, ok
}

func (a *acceptance) number(value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	parsed, err := jsonIn(strings.TrimSpace(text))
	if number, ok := parsed.(json.Number); ok && err == nil {
		return number
	}
	return value
}

func (a *acceptance) flag(value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true":
		return true
	case "false":
		return false
	}
	return value
}

// list takes JSON in a text, one value for a list of it, and the list within an
// element as models write it that think in XML.
func (a *acceptance) list(value any, schema *jsonschema.Schema, path string) any {
	switch v := value.(type) {
	case string:
		parsed, err := jsonIn(v)
		_, isList := parsed.([]any)
		_, isObject := parsed.(map[string]any)
		switch {
		case err == nil && (isList || isObject && schema.Items != nil && schema.Items.Type == "object"):
			return a.list(parsed, schema, path)
		case err != nil && schema.Items != nil && schema.Items.Type == "string" && !strings.HasPrefix(strings.TrimSpace(v), "["):
			return []any{v}
		}
		return value
	case map[string]any:
		if inner, ok := v["item"]; ok && len(v) == 1 && schema.Items != nil && schema.Items.Properties["item"] == nil {
			return a.list(inner, schema, path)
		}
		if schema.Items == nil || schema.Items.Type != "object" {
			return value
		}
		value = []any{v}
	}
	list, ok := value.([]any)
	if !ok || schema.Items == nil {
		return value
	}
	for i := range list {
		list[i] = a.value(list[i], schema.Items, path+"[]")
	}
	return list
}

// member takes JSON in a text for the object, and gives its arguments their names.
func (a *acceptance) member(value any, schema *jsonschema.Schema, path string) any {
	if text, ok := value.(string); ok {
		parsed, err := jsonIn(text)
		if _, isObject := parsed.(map[string]any); err != nil || !isObject {
			return value
		}
		value = parsed
	}
	object, ok := value.(map[string]any)
	if !ok || schema.Properties == nil {
		return value
	}
	if !a.entry.Foreign() {
		if err := a.rename(object, schema, path+"."); err != nil && a.failed == nil {
			a.failed = err
		}
	}
	a.properties(object, schema, path+".")
	return object
}

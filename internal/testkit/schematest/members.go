package schematest

import (
	"encoding/json"
	"fmt"
	"strings"
)

const prefix = "#/$defs/" // of a reference to a definition

func reference(name string) string { return prefix + name }

// references returns the names of the definitions that a schema refers to, anywhere in
// it.
func references(raw json.RawMessage) []string {
	var schema any
	if json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	var names []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				names = append(names, strings.TrimPrefix(ref, prefix))
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(schema)
	return names
}

// gatherMembers notes which members an object of a definition may have, over all its
// alternatives.
func gatherMembers(to map[string]bool, defs map[string]json.RawMessage, name string) {
	var walk func(raw json.RawMessage)
	walk = func(raw json.RawMessage) {
		var s struct {
			Ref        string                     `json:"$ref"`
			Properties map[string]json.RawMessage `json:"properties"`
			AllOf      []json.RawMessage          `json:"allOf"`
			AnyOf      []json.RawMessage          `json:"anyOf"`
			OneOf      []json.RawMessage          `json:"oneOf"`
		}
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		if s.Ref != "" {
			walk(defs[strings.TrimPrefix(s.Ref, prefix)])
		}
		for property := range s.Properties {
			to[property] = true
		}
		for _, list := range [][]json.RawMessage{s.AllOf, s.AnyOf, s.OneOf} {
			for _, part := range list {
				walk(part)
			}
		}
	}
	walk(defs[name])
}

// onlyKnownMembers returns an error for a member of a message that no version of the schema has: the
// protocol leaves room for additions in `_meta` only.
func (d *definitions) onlyKnownMembers(name string, raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil
	}
	known := d.members(name)
	for member := range object {
		if len(known) > 0 && !known[member] {
			return fmt.Errorf("%s has no member %q", name, member)
		}
	}
	return nil
}

// members returns the members that an object of a definition may have in any version of the schema.
func (d *definitions) members(name string) map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	known := d.known[name]
	if known == nil {
		known = map[string]bool{}
		gatherMembers(known, d.raw, name)
		gatherMembers(known, d.unstable, name)
		d.known[name] = known
	}
	return known
}

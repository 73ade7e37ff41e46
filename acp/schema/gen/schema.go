package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// document is the part of a JSON schema file that matters here.
type document struct {
	Defs map[string]*node `json:"$defs"`
}

// node is a JSON schema, as far as the protocol's schema uses the language.
type node struct {
	Ref        string          `json:"$ref"`
	Type       types           `json:"type"`
	Format     string          `json:"format"`
	Const      json.RawMessage `json:"const"`
	Default    json.RawMessage `json:"default"`
	Properties properties      `json:"properties"`
	Additional json.RawMessage `json:"additionalProperties"`
	Required   []string        `json:"required"`
	Items      *node           `json:"items"`
	AllOf      []*node         `json:"allOf"`
	AnyOf      []*node         `json:"anyOf"`
	OneOf      []*node         `json:"oneOf"`
	Not        *node           `json:"not"`
	Method     string          `json:"x-method"`
	Side       string          `json:"x-side"`
	Lenient    bool            `json:"x-deserialize-default-on-error"`
	SkipBad    bool            `json:"x-deserialize-skip-invalid-items"`
	NullIsZero bool            `json:"x-deserialize-default-on-null"`

	unstable bool
}

// types is the type keyword: one name or several.
type types []string

func (t *types) UnmarshalJSON(raw []byte) error {
	if raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(t))
	}
	var one string
	err := json.Unmarshal(raw, &one)
	*t = types{one}
	return err
}

// is reports whether name is the one type besides null.
func (t types) is(name string) bool {
	return slices.Contains(t, name) && (len(t) == 1 || len(t) == 2 && slices.Contains(t, "null"))
}

// property is a member of an object, in the order of the file.
type property struct {
	name string
	*node
}

type properties []property

func (p *properties) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		n := new(node)
		if err := dec.Decode(n); err != nil {
			return fmt.Errorf("property %v: %w", name, err)
		}
		*p = append(*p, property{fmt.Sprint(name), n})
	}
	return nil
}

func (p properties) get(name string) *node {
	for _, prop := range p {
		if prop.name == name {
			return prop.node
		}
	}
	return nil
}

// ref returns the definition that n stands for, by itself or within a lone allOf; or "".
func (n *node) ref() string {
	if len(n.AllOf) == 1 {
		n = n.AllOf[0]
	}
	return strings.TrimPrefix(n.Ref, "#/$defs/")
}

// alternatives returns the parts of a union.
func (n *node) alternatives() []*node {
	if n.OneOf != nil {
		return n.OneOf
	}
	return n.AnyOf
}

// mapValue returns the schema of the values of an object that is used as a map; or nil.
func (n *node) mapValue() *node {
	var value node
	if n.Additional == nil || json.Unmarshal(n.Additional, &value) != nil {
		return nil // absent, true or false
	}
	return &value
}

// orNull returns what n is if it is not null.
func (n *node) orNull() *node {
	alt := n.AnyOf
	if len(alt) == 2 && alt[1].Type.is("null") {
		return alt[0]
	}
	return n
}

// load reads the stable schema of dir, and those unstable parts that are asked for.
func load(dir string, unstable []string) (map[string]*node, error) {
	stable, err := readDocument(filepath.Join(dir, "schema.json"))
	if err != nil {
		return nil, err
	}
	more, err := readDocument(filepath.Join(dir, "schema.unstable.json"))
	if err != nil {
		return nil, err
	}
	for _, part := range unstable {
		if err := adopt(stable.Defs, more.Defs, part); err != nil {
			return nil, err
		}
	}
	return stable.Defs, nil
}

// adopt takes one unstable definition, one unstable field of a definition, or one unstable
// variant of a union.
func adopt(to, from map[string]*node, part string) error {
	name, field, isField := strings.Cut(part, ".")
	def := from[name]
	if def == nil {
		return fmt.Errorf("unstable %s: no such definition", part)
	}
	if to[name] == nil {
		def.unstable = true
		to[name] = def
	}
	if !isField {
		return nil
	}
	if alt := def.variant(field); alt != nil {
		return to[name].adoptVariant(alt, part, field)
	}
	prop := def.Properties.get(field)
	if prop == nil {
		return fmt.Errorf("unstable %s: no such field or variant", part)
	}
	if to[name].Properties.get(field) != nil {
		return fmt.Errorf("unstable %s: stable by now, remove it from the list", part)
	}
	prop.unstable = true
	to[name].Properties = append(to[name].Properties, property{field, prop})
	return nil
}

// variant returns the alternative of a union whose discriminator has that value; or nil.
func (n *node) variant(value string) *node {
	for _, alt := range n.alternatives() {
		if _, tag := constant(alt); tag == value {
			return alt
		}
	}
	return nil
}

func (n *node) adoptVariant(alt *node, part, value string) error {
	switch {
	case n.variant(value) != nil:
		return fmt.Errorf("unstable %s: stable by now, remove it from the list", part)
	case n.OneOf != nil:
		n.OneOf = append(n.OneOf, alt)
	default:
		n.AnyOf = append(n.AnyOf, alt)
	}
	return nil
}

func readDocument(path string) (*document, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	return &d, nil
}

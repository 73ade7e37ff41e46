package mount

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// node is a value of a plan, whichever language it was written in.
type node struct {
	kind         nodeKind
	line, column int
	// text is the JSON of a scalar.
	text  string
	items []node
	keys  []key
}

type nodeKind int

const (
	scalar nodeKind = iota
	sequence
	mapping
)

type key struct {
	name  string
	at    node
	value node
}

// json is the value as JSON, its keys in the order of the file.
func (n node) json() json.RawMessage {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n node) write(b *bytes.Buffer) {
	switch n.kind {
	case scalar:
		b.WriteString(n.text)
	case sequence:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case mapping:
		b.WriteByte('{')
		for i, k := range n.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(jsonText(k.name) + ":")
			k.value.write(b)
		}
		b.WriteByte('}')
	}
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "null" // strings, numbers and booleans have a JSON form
	}
	return string(text)
}

func (p planFile) parse(data []byte) (node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	start := bytes.TrimSpace(data)
	ext := strings.ToLower(filepath.Ext(p.name))
	if ext == ".json" || ext == ".jsonc" || bytes.HasPrefix(start, []byte("{")) || bytes.HasPrefix(start, []byte("//")) {
		return p.parseJSON(data)
	}
	return p.parseYAML(data)
}

func (p planFile) parseJSON(data []byte) (node, error) {
	root, err := hujson.Parse(data)
	if err != nil {
		problem := &PlanError{File: p.name, Problem: strings.TrimPrefix(err.Error(), "hujson: ")}
		if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &problem.Line, &problem.Column); scanErr == nil {
			_, problem.Problem, _ = strings.Cut(problem.Problem, ": ")
		}
		return node{}, problem
	}
	return p.fromJSON(data, root)
}

func (p planFile) fromJSON(data []byte, v hujson.Value) (node, error) {
	n := node{}
	before := data[:v.StartOffset]
	n.line, n.column = 1+bytes.Count(before, []byte("\n")), v.StartOffset-bytes.LastIndexByte(before, '\n')
	switch value := v.Value.(type) {
	case hujson.Literal:
		n.text = string(value)
	case *hujson.Array:
		n.kind = sequence
		for _, element := range value.Elements {
			item, err := p.fromJSON(data, element)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
	case *hujson.Object:
		n.kind = mapping
		for _, m := range value.Members {
			name, err := p.fromJSON(data, m.Name)
			if err != nil {
				return n, err
			}
			item, err := p.fromJSON(data, m.Value)
			if err != nil {
				return n, err
			}
			literal, _ := m.Name.Value.(hujson.Literal) // the parser takes no other names
			if err := p.addKey(&n, key{name: literal.String(), at: name, value: item}); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (p planFile) addKey(n *node, k key) error {
	for _, have := range n.keys {
		if have.name == k.name {
			return p.errorf(k.at, "key %q stands twice", k.name)
		}
	}
	n.keys = append(n.keys, k)
	return nil
}

func (p planFile) parseYAML(data []byte) (node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var root, more yaml.Node
	if err := decoder.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return node{}, &PlanError{File: p.name, Problem: "is empty"}
		}
		problem := &PlanError{File: p.name, Problem: strings.TrimPrefix(err.Error(), "yaml: ")}
		if _, scanErr := fmt.Sscanf(problem.Problem, "line %d:", &problem.Line); scanErr == nil {
			problem.Column = 1
			_, problem.Problem, _ = strings.Cut(problem.Problem, ": ")
		}
		return node{}, problem
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return node{}, &PlanError{File: p.name, Line: max(more.Line, 1), Column: 1, Problem: "holds more than one document"}
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return node{}, &PlanError{File: p.name, Problem: "is empty"}
	}
	return p.fromYAML(root.Content[0])
}

func (p planFile) fromYAML(y *yaml.Node) (node, error) {
	n := node{line: y.Line, column: y.Column}
	if y.Anchor != "" || y.Kind == yaml.AliasNode {
		return n, p.errorf(n, "anchors and aliases are not supported; write the value out")
	}
	switch y.Kind {
	case yaml.SequenceNode:
		n.kind = sequence
		for _, content := range y.Content {
			item, err := p.fromYAML(content)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
		return n, nil
	case yaml.MappingNode:
		n.kind = mapping
		for i := 0; i+1 < len(y.Content); i += 2 {
			if err := p.yamlKey(&n, y.Content[i], y.Content[i+1]); err != nil {
				return n, err
			}
		}
		return n, nil
	}
	text, err := scalarJSON(y)
	if err != nil {
		return n, p.errorf(n, "%v", err)
	}
	n.text = text
	return n, nil
}

func (p planFile) yamlKey(n *node, name, value *yaml.Node) error {
	at := node{line: name.Line, column: name.Column}
	if name.Kind != yaml.ScalarNode || name.ShortTag() != "!!str" || name.Anchor != "" {
		return p.errorf(at, "a key must be a plain string")
	}
	item, err := p.fromYAML(value)
	if err != nil {
		return err
	}
	return p.addKey(n, key{name: name.Value, at: at, value: item})
}

// scalarJSON is a YAML scalar as JSON; dates stay the text they are.
func scalarJSON(y *yaml.Node) (string, error) {
	var value any = y.Value
	switch tag := y.ShortTag(); tag {
	case "!!str", "!!timestamp":
	case "!!null", "!!bool", "!!int", "!!float":
		if err := y.Decode(&value); err != nil {
			return "", err
		}
	default:
		return "", fmt.Errorf("values of type %s are not supported", tag)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("%s has no JSON form", y.Value)
	}
	return string(text), nil
}

package strictread

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// YAML parses a file of one document. An error is an *Error.
func YAML(data []byte) (*Node, error) {
	text := string(bytes.TrimPrefix(data, []byte("\ufeff")))
	document, err := parseYAML(text)
	if err != nil {
		return nil, yamlError(text, err, parseYAML)
	}
	if len(document.Content) == 0 {
		return &Node{Kind: Null, At: Position{1, 1}}, nil
	}
	reader := yamlReader{}
	return reader.node(document.Content[0], "")
}

// errDocuments reports YAML after the end of the first document.
var errDocuments = errors.New("it holds more than one document")

func parseYAML(text string) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errDocuments
	}
	return &document, nil
}

// yamlError gives an error of the parser its line.
func yamlError(text string, err error, parse func(string) (*yaml.Node, error)) error {
	return &Error{Position: Position{Line: mistakeLine(text, err, parse), Column: 1}, Problem: yamlLine().ReplaceAllString(err.Error(), ""), Syntax: true}
}

// yamlLine matches the prefix of the parser's errors.
var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line \d+: )?`) })

// maxLook and maxLookLines bound the text that is searched for the line of an error, for it is
// parsed up to each of its lines.
const (
	maxLook      = 8 << 10
	maxLookLines = 200
)

// mistakeLine finds the line of an error: the first line with which the parser reports the
// same error. The line that the parser reports is often the start of the block.
func mistakeLine(text string, mistake error, parse func(string) (*yaml.Node, error)) int {
	want := yamlLine().ReplaceAllString(mistake.Error(), "")
	at, end := 1, 0
	for line := range strings.Lines(text[:min(len(text), maxLook)]) {
		if at > maxLookLines {
			break
		}
		end += len(line)
		if _, err := parse(text[:end]); err != nil && yamlLine().ReplaceAllString(err.Error(), "") == want {
			return at
		}
		at++
	}
	reported := 1
	if _, err := fmt.Sscanf(mistake.Error(), "yaml: line %d:", &reported); err != nil {
		return 1
	}
	return max(reported, 1)
}

// yamlReader converts the parser's tree.
type yamlReader struct {
	Options
	nodes int
}

func (r *yamlReader) node(y *yaml.Node, field string) (*Node, error) {
	n := &Node{At: Position{y.Line, y.Column}}
	if r.nodes++; r.MaxNodes > 0 && r.nodes > r.MaxNodes {
		return nil, &Error{Position: n.At, Problem: fmt.Sprintf("its front matter holds more than %d values", r.MaxNodes)}
	}
	if !r.Tolerant && (y.Anchor != "" || y.Kind == yaml.AliasNode) {
		return nil, &Error{Position: n.At, Field: field, Problem: "an anchor or alias (&name, *name) is not supported here; write the value out"}
	}
	switch y.Kind {
	case yaml.AliasNode:
		r.alias(n, y)
	case yaml.SequenceNode:
		n.Kind = List
		for i, content := range y.Content {
			item, err := r.node(content, fmt.Sprintf("%s[%d]", field, i))
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case yaml.MappingNode:
		n.Kind = Object
		names := map[string]bool{}
		for i := 0; i+1 < len(y.Content); i += 2 {
			if err := r.member(n, y.Content[i], y.Content[i+1], field, names); err != nil {
				return nil, err
			}
		}
	default:
		if err := n.scalar(y); err != nil && !r.Tolerant {
			return nil, &Error{Position: n.At, Field: field, Problem: err.Error()}
		}
	}
	return n, nil
}

// alias reads an alias of a scalar as that scalar. Other aliases stay aliases: following them
// would let a small file stand for a huge one.
func (r *yamlReader) alias(n *Node, y *yaml.Node) {
	n.Kind = Alias
	if y.Alias != nil && y.Alias.Kind == yaml.ScalarNode {
		_ = n.scalar(y.Alias) // a tolerant reader takes values without a JSON form
	}
}

func (r *yamlReader) member(n *Node, name, value *yaml.Node, field string, names map[string]bool) error {
	m := Member{Name: name.Value, At: Position{name.Line, name.Column}}
	if !r.Tolerant && (name.Kind != yaml.ScalarNode || name.ShortTag() == "!!merge" || name.Anchor != "") {
		return &Error{Position: m.At, Problem: "a field needs a plain name"}
	}
	if r.Tolerant {
		n.Members = append(n.Members, m)
	} else if err := n.add(m, Join(field, m.Name), names); err != nil {
		return err
	}
	item, err := r.node(value, Join(field, m.Name))
	if err != nil {
		return err
	}
	n.Members[len(n.Members)-1].Value = item
	return nil
}

// scalar reads a scalar; dates stay the texts that they are. On an error the value is a text.
func (n *Node) scalar(y *yaml.Node) error {
	n.Kind, n.Text, n.literal = Text, y.Value, quote(y.Value)
	kind, known := yamlKind(y.ShortTag())
	if !known {
		return fmt.Errorf("values of type %s are not supported", y.ShortTag())
	}
	if n.Kind = kind; kind == Text {
		return nil
	}
	var value any
	if err := y.Decode(&value); err != nil {
		n.Kind = Text
		return fmt.Errorf("it is no value of type %s", y.ShortTag())
	}
	literal, err := json.Marshal(value)
	if err != nil {
		return errors.New("expects a number other than .nan and .inf")
	}
	n.literal = string(literal)
	return nil
}

func yamlKind(tag string) (kind Kind, known bool) {
	switch tag {
	case "!!str", "!!timestamp":
		return Text, true
	case "!!null":
		return Null, true
	case "!!bool":
		return Bool, true
	case "!!int", "!!float":
		return Number, true
	}
	return Text, false
}

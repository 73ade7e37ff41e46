package strictread

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// JSONC parses JSON with comments and trailing commas. Blank data is an empty object. An error
// is an *Error.
func JSONC(data []byte) (*Node, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return &Node{Kind: Object, At: Position{1, 1}}, nil
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, jsonError(err)
	}
	reader := jsonReader{data: data, line: 1}
	return reader.node(root, "")
}

// WithoutComments returns JSON with comments as plain JSON. All values keep their lines. What
// cannot be parsed is returned as it is.
func WithoutComments(data []byte) []byte {
	plain, _ := hujson.Standardize(bytes.Clone(bytes.TrimPrefix(data, []byte("\ufeff"))))
	return plain
}

// jsonError rewrites an error of the parser, which carries the position as text and may quote
// the value that it stumbled over. That value can be a key, so it is cut off.
func jsonError(err error) error {
	e := &Error{Syntax: true, Problem: strings.TrimPrefix(err.Error(), "hujson: ")}
	if _, scanErr := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &e.Column); scanErr == nil {
		if inner := errors.Unwrap(err); inner != nil {
			e.Problem = inner.Error()
		}
	}
	if before, _, quoted := strings.Cut(e.Problem, "invalid literal: "); quoted {
		e.Problem = before + "invalid literal (a text needs double quotes and valid escapes)"
	}
	return e
}

// jsonReader converts the parser's tree. It passes over the data once: offsets only grow.
type jsonReader struct {
	data        []byte
	offset      int
	line, start int // the line at offset, and where it starts
}

func (r *jsonReader) position(offset int) Position {
	for ; r.offset < offset; r.offset++ {
		if r.data[r.offset] == '\n' {
			r.line, r.start = r.line+1, r.offset+1
		}
	}
	return Position{r.line, offset - r.start + 1}
}

func (r *jsonReader) node(v hujson.Value, field string) (*Node, error) {
	n := &Node{At: r.position(v.StartOffset)}
	switch value := v.Value.(type) {
	case hujson.Literal:
		n.Kind, n.literal, n.Text = jsonKind(value.Kind()), string(value), string(value)
		if n.Kind == Text {
			n.Text = value.String()
		}
	case *hujson.Array:
		n.Kind = List
		for i, element := range value.Elements {
			item, err := r.node(element, fmt.Sprintf("%s[%d]", field, i))
			if err != nil {
				return nil, err
			}
			n.Items = append(n.Items, item)
		}
	case *hujson.Object:
		n.Kind = Object
		names := map[string]bool{}
		for _, m := range value.Members {
			literal, _ := m.Name.Value.(hujson.Literal) // the parser takes no other names
			member := Member{Name: literal.String(), At: r.position(m.Name.StartOffset)}
			at := Join(field, member.Name)
			if err := n.add(member, at, names); err != nil {
				return nil, err
			}
			item, err := r.node(m.Value, at)
			if err != nil {
				return nil, err
			}
			n.Members[len(n.Members)-1].Value = item
		}
	}
	return n, nil
}

func jsonKind(k hujson.Kind) Kind {
	switch k {
	case 'n':
		return Null
	case '0':
		return Number
	case '"':
		return Text
	default:
		return Bool
	}
}

package strictread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Kind is the kind of a value.
type Kind int

// The kinds of values. An Alias is what only a tolerant reader passes on: YAML's reference to
// a list or an object that stands elsewhere.
const (
	Null Kind = iota
	Bool
	Number
	Text
	List
	Object
	Alias
)

// Position is a place in a file. Line and Column count from 1, Column in bytes for JSON and in
// characters for YAML; 0 means that it is not known.
type Position struct{ Line, Column int }

// Node is a value of a file.
type Node struct {
	Kind Kind
	At   Position
	// Text is a scalar without quotes and escapes, otherwise as it is written.
	Text string
	// Items are the values of a List, Members those of an Object in the order of the file.
	Items   []*Node
	Members []Member

	literal string // the JSON of a scalar
}

// Member is a name of an object and its value.
type Member struct {
	Name  string
	At    Position
	Value *Node
}

// Scalar reports whether the value is neither a list, an object nor an alias.
func (n *Node) Scalar() bool { return n.Kind < List }

// JSON returns the value as JSON without blanks and comments.
func (n *Node) JSON() json.RawMessage {
	var b bytes.Buffer
	n.write(&b)
	return b.Bytes()
}

func (n *Node) write(b *bytes.Buffer) {
	switch n.Kind {
	case List:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	case Object:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quote(m.Name) + ":")
			m.Value.write(b)
		}
		b.WriteByte('}')
	case Null, Alias:
		b.WriteString("null")
	default:
		b.WriteString(n.literal)
	}
}

func quote(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return `""` // a string always has a JSON form
	}
	return string(quoted)
}

// Walk calls visit for the value and every value in it, with the path of its field, such as
// "limits.time" or "tools[1]". at is where the field stands: at its name, if it has one.
func (n *Node) Walk(visit func(field string, at Position)) { n.walk("", n.At, visit) }

func (n *Node) walk(field string, at Position, visit func(string, Position)) {
	visit(field, at)
	for i, item := range n.Items {
		item.walk(fmt.Sprintf("%s[%d]", field, i), item.At, visit)
	}
	for _, m := range n.Members {
		m.Value.walk(Join(field, m.Name), m.At, visit)
	}
}

// Join returns the path of a field within another.
func Join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

// Error is a mistake in a file.
type Error struct {
	Position
	// Field is the path of the field in question; may be empty.
	Field string
	// Problem says what is wrong, and never quotes a value.
	Problem string
	// Syntax means that the file is not in its language; otherwise it says what is refused.
	Syntax bool
}

// Error implements error: line, column: field: problem.
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Line > 0 && e.Column > 0:
		fmt.Fprintf(&b, "line %d, column %d: ", e.Line, e.Column)
	case e.Line > 0:
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	b.WriteString(e.Text())
	return b.String()
}

// Text returns the error without the position: field: problem.
func (e *Error) Text() string {
	if e.Field == "" {
		return e.Problem
	}
	return e.Field + ": " + e.Problem
}

// add appends a member to an object; names holds the names of its members.
func (n *Node) add(m Member, field string, names map[string]bool) error {
	if names[m.Name] {
		return &Error{Position: m.At, Field: field, Problem: "is set twice; keep one"}
	}
	names[m.Name] = true
	n.Members = append(n.Members, m)
	return nil
}

package config

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"acp-agent/internal/strictread"
)

// maxFile bounds a file: its parser descends by recursion, and a project's file is foreign.
const maxFile = 256 << 10

// file is one JSONC file on its way into a struct. It is stricter than encoding/json:
// names must match exactly and once, null is refused, and every error has a position.
type file struct {
	name string
	data []byte
	// where holds the position of each field that the file sets.
	where map[string]strictread.Position
	// misplaced explains an unknown field, if it is known elsewhere; it may be nil.
	misplaced func(field string) string
}

func newFile(name string, data []byte) *file {
	return &file{name: name, data: data, where: map[string]strictread.Position{}}
}

// decode fills dst, a pointer to a struct. What the file does not set stays as it is.
func (f *file) decode(dst any) error {
	if len(f.data) > maxFile {
		return &Error{File: f.name, Problem: fmt.Sprintf("is larger than %d bytes", maxFile)}
	}
	root, err := strictread.JSONC(f.data)
	if mistake, ok := errors.AsType[*strictread.Error](err); ok {
		return &Error{File: f.name, Line: mistake.Line, Column: mistake.Column, Field: mistake.Field, Problem: mistake.Problem}
	}
	if err != nil {
		return &Error{File: f.name, Problem: err.Error(), Err: err}
	}
	return f.value(root, reflect.ValueOf(dst).Elem(), "")
}

// switchable is a struct for which a truth value may stand.
type switchable interface{ turn(on bool) }

// textOrList is a struct for which a text or a list of texts stands.
type textOrList interface {
	parts() (text *string, list *[]string)
}

func (f *file) value(n *strictread.Node, dst reflect.Value, field string) error {
	f.where[field] = n.At
	if dst.Type() == reflect.TypeFor[json.RawMessage]() {
		dst.SetBytes(n.JSON())
		return nil
	}
	if either, ok := dst.Addr().Interface().(textOrList); ok && (n.Kind == strictread.Text || n.Kind == strictread.List) {
		text, list := either.parts()
		if n.Kind == strictread.Text {
			return f.scalar(n, reflect.ValueOf(text).Elem(), field)
		}
		return f.list(n, reflect.ValueOf(list).Elem(), field)
	}
	switch n.Kind {
	case strictread.Null:
		return f.errorf(field, "null is no value here; leave the field out to get its default")
	case strictread.Object:
		if dst.Kind() == reflect.Map || dst.Kind() == reflect.Struct && len(fieldNames(dst.Type())) > 0 {
			return f.object(n, dst, field)
		}
	case strictread.List:
		if dst.Kind() == reflect.Slice {
			return f.list(n, dst, field)
		}
	default:
		if s, ok := dst.Addr().Interface().(switchable); ok && n.Kind == strictread.Bool {
			s.turn(n.Text == "true")
			return nil
		}
		if _, ok := dst.Addr().Interface().(textOrList); ok {
			break
		}
		return f.scalar(n, dst, field)
	}
	return f.errorf(field, "expects %s, found %s", expects(dst.Type()), found(n.Kind))
}

func (f *file) object(n *strictread.Node, dst reflect.Value, field string) error {
	for _, m := range n.Members {
		at := strictread.Join(field, m.Name)
		f.where[at] = m.At
		if err := f.member(m.Value, dst, at, m.Name); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) member(n *strictread.Node, dst reflect.Value, field, name string) error {
	if dst.Kind() == reflect.Map {
		elem := reflect.New(dst.Type().Elem()).Elem()
		if err := f.value(n, elem, field); err != nil {
			return err
		}
		if dst.IsNil() {
			dst.Set(reflect.MakeMap(dst.Type()))
		}
		dst.SetMapIndex(reflect.ValueOf(name), elem)
		return nil
	}
	names := fieldNames(dst.Type())
	index, known := names[name]
	if !known {
		if f.misplaced != nil {
			if why := f.misplaced(field); why != "" {
				return f.errorf(field, "%s", why)
			}
		}
		return f.errorf(field, "unknown field; known here: %s", strings.Join(sortedKeys(names), ", "))
	}
	return f.value(n, dst.Field(index), field)
}

func (f *file) list(n *strictread.Node, dst reflect.Value, field string) error {
	list := reflect.MakeSlice(dst.Type(), len(n.Items), len(n.Items))
	for i, item := range n.Items {
		if err := f.value(item, list.Index(i), fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return err
		}
	}
	dst.Set(list)
	return nil
}

func (f *file) scalar(n *strictread.Node, dst reflect.Value, field string) error {
	err := json.Unmarshal(n.JSON(), dst.Addr().Interface())
	if typeErr := (*json.UnmarshalTypeError)(nil); errors.As(err, &typeErr) {
		if dst.CanInt() && n.Kind == strictread.Number {
			return f.errorf(field, "expects a whole number within range, found %s", n.Text)
		}
		return f.errorf(field, "expects %s, found %s", expects(dst.Type()), found(n.Kind))
	}
	if err != nil {
		return f.errorf(field, "%w", err)
	}
	return nil
}

// errorf makes an error at the position where the field is set.
func (f *file) errorf(field, format string, args ...any) error {
	at := f.where[field]
	err := fmt.Errorf(format, args...)
	return &Error{File: f.name, Line: at.Line, Column: at.Column, Field: field, Problem: err.Error(), Err: errors.Unwrap(err)}
}

// at returns the place of a field that the file sets: file:line:column.
func (f *file) at(field string) string {
	return fmt.Sprintf("%s:%d:%d", f.name, f.where[field].Line, f.where[field].Column)
}

// fieldNames maps the JSON names of a struct to the indexes of its fields.
func fieldNames(t reflect.Type) map[string]int {
	names := map[string]int{}
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("json"); tag != "" && tag != "-" {
			names[tag] = i
		}
	}
	return names
}

// expects names the kind of value that a type is written as.
func expects(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return expects(t.Elem())
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[textOrList]()) {
		return "a text in quotes or a list"
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		if t == reflect.TypeFor[Rule]() {
			return "a text or an object"
		}
		return "a text in quotes"
	}
	switch t.Kind() {
	case reflect.String:
		return "a text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

func found(kind strictread.Kind) string {
	switch kind {
	case strictread.Object:
		return "an object"
	case strictread.List:
		return "a list"
	case strictread.Text:
		return "a text"
	case strictread.Number:
		return "a number"
	case strictread.Bool:
		return "true or false"
	default:
		return "null"
	}
}

package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/tailscale/hujson"
)

// maxFile bounds a file: hujson descends by recursion, and a project's file is foreign.
const maxFile = 256 << 10

// file is one JSONC file on its way into a struct. It is stricter than encoding/json:
// names must match exactly and once, null is refused, and every error has a position.
type file struct {
	name string
	data []byte
	// where holds the offset of each field that the file sets.
	where map[string]int
	// misplaced explains an unknown field, if it is known elsewhere; it may be nil.
	misplaced func(field string) string
}

func newFile(name string, data []byte) *file {
	return &file{
		name:  name,
		data:  bytes.TrimPrefix(data, []byte("\ufeff")),
		where: map[string]int{},
	}
}

// decode fills dst, a pointer to a struct. What the file does not set stays as it is.
func (f *file) decode(dst any) error {
	if len(f.data) > maxFile {
		return &Error{File: f.name, Problem: fmt.Sprintf("is larger than %d bytes", maxFile)}
	}
	if len(bytes.TrimSpace(f.data)) == 0 {
		return nil
	}
	root, err := hujson.Parse(f.data)
	if err != nil {
		return f.syntax(err)
	}
	return f.value(root, reflect.ValueOf(dst).Elem(), "")
}

// switchable is a struct for which a truth value may stand.
type switchable interface{ turn(on bool) }

func (f *file) value(v hujson.Value, dst reflect.Value, field string) error {
	f.where[field] = v.StartOffset
	if dst.Type() == reflect.TypeFor[json.RawMessage]() {
		return f.raw(v, dst)
	}
	if v.Value.Kind() == 'n' {
		return f.errorf(field, "null is no value here; leave the field out to get its default")
	}
	switch v := v.Value.(type) {
	case *hujson.Object:
		if dst.Kind() == reflect.Map || dst.Kind() == reflect.Struct && len(fieldNames(dst.Type())) > 0 {
			return f.object(v, dst, field)
		}
	case *hujson.Array:
		if dst.Kind() == reflect.Slice {
			return f.list(v, dst, field)
		}
	case hujson.Literal:
		if s, ok := dst.Addr().Interface().(switchable); ok && (v.Kind() == 't' || v.Kind() == 'f') {
			s.turn(v.Kind() == 't')
			return nil
		}
		return f.literal(v, dst, field)
	}
	return f.errorf(field, "expects %s, found %s", expects(dst.Type()), found(v.Value.Kind()))
}

func (f *file) object(obj *hujson.Object, dst reflect.Value, field string) error {
	seen := map[string]bool{}
	for _, m := range obj.Members {
		name := m.Name.Value.(hujson.Literal).String() // the parser refuses other names
		at := join(field, name)
		f.where[at] = m.Name.StartOffset
		if seen[name] {
			return f.errorf(at, "is set twice in the same object; keep one")
		}
		seen[name] = true
		if err := f.member(m.Value, dst, at, name); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) member(v hujson.Value, dst reflect.Value, field, name string) error {
	if dst.Kind() == reflect.Map {
		elem := reflect.New(dst.Type().Elem()).Elem()
		if err := f.value(v, elem, field); err != nil {
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
	return f.value(v, dst.Field(index), field)
}

func (f *file) list(arr *hujson.Array, dst reflect.Value, field string) error {
	list := reflect.MakeSlice(dst.Type(), len(arr.Elements), len(arr.Elements))
	for i, v := range arr.Elements {
		if err := f.value(v, list.Index(i), fmt.Sprintf("%s[%d]", field, i)); err != nil {
			return err
		}
	}
	dst.Set(list)
	return nil
}

func (f *file) literal(lit hujson.Literal, dst reflect.Value, field string) error {
	err := json.Unmarshal(lit, dst.Addr().Interface())
	if typeErr := (*json.UnmarshalTypeError)(nil); errors.As(err, &typeErr) {
		if dst.CanInt() && lit.Kind() == '0' {
			return f.errorf(field, "expects a whole number within range, found %s", lit)
		}
		return f.errorf(field, "expects %s, found %s", expects(dst.Type()), found(lit.Kind()))
	}
	if err != nil {
		return f.errorf(field, "%w", err)
	}
	return nil
}

// raw keeps any JSON value, without its comments.
func (f *file) raw(v hujson.Value, dst reflect.Value) error {
	v = v.Clone()
	v.Minimize()
	dst.SetBytes(v.Pack())
	return nil
}

// errorf makes an error at the place where the field is set.
func (f *file) errorf(field, format string, args ...any) error {
	e := &Error{File: f.name, Field: field}
	if offset, ok := f.where[field]; ok {
		e.Line, e.Column = position(f.data, offset)
	}
	err := fmt.Errorf(format, args...)
	e.Problem, e.Err = err.Error(), errors.Unwrap(err)
	return e
}

// syntax rewrites an error of the parser, which carries the position as text and may
// quote the value it stumbled over. That value can be a key, so it is cut off.
func (f *file) syntax(err error) error {
	e := &Error{File: f.name, Problem: err.Error()}
	if _, scanErr := fmt.Sscanf(e.Problem, "hujson: line %d, column %d:", &e.Line, &e.Column); scanErr == nil {
		e.Problem = errors.Unwrap(err).Error()
	}
	if before, _, quoted := strings.Cut(e.Problem, "invalid literal: "); quoted {
		e.Problem = before + "invalid literal (a text needs double quotes and valid escapes)"
	}
	return e
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

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}

// expects names the kind of value that a type is written as.
func expects(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		return expects(t.Elem())
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

func found(kind hujson.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 't', 'f':
		return "true or false"
	default:
		return "null"
	}
}

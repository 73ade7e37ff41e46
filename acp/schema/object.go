package schema

import "encoding/json"

// Decode decodes the parameters or the result of a message, which must be valid JSON;
// nil and null are read as an object without members. It is faster than json.Unmarshal
// on large messages, because it trusts the transport's check.
func Decode(raw json.RawMessage, v json.Unmarshaler) error {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	return v.UnmarshalJSON(raw)
}

// object is a JSON object on its way into a struct. The first problem is kept, and
// makes the rest of the fields no-ops.
type object struct {
	members []member
	err     error
}

func parseObject(raw []byte) *object {
	list, ok := members(raw)
	if !ok {
		return &object{err: problem("must be an object")}
	}
	return &object{members: list}
}

// get returns the raw value of a member, or nil if it is absent. As in encoding/json the
// last of several members with one name counts.
func (o *object) get(name string) []byte {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].is(name) {
			return o.members[i].value
		}
	}
	return nil
}

func (m member) is(name string) bool {
	n := len(m.name)
	if n == len(name)+2 && string(m.name[1:n-1]) == name {
		return true
	}
	if n <= len(name)+2 {
		return false // an escape makes a name longer, never shorter
	}
	s, err := text[string](m.name)
	return err == nil && s == name
}

// decoder reads one value.
type decoder[T any] func(raw []byte) (T, error)

// required reads a field that must be there.
func required[T any](o *object, name string, to *T, decode decoder[T]) {
	if o.err != nil {
		return
	}
	raw := o.get(name)
	if raw == nil {
		o.err = at(name, problem("is missing"))
		return
	}
	set(o, name, to, raw, decode)
}

// requiredLenient reads a field that must be there, but may be nonsense, which is read
// as the zero value.
func requiredLenient[T any](o *object, name string, to *T, decode decoder[T]) {
	if o.err == nil && o.get(name) == nil {
		o.err = at(name, problem("is missing"))
	}
	lenient(o, name, to, decode)
}

// nullable reads a field that must be there, but may be null, which is read as the zero
// value.
func nullable[T any](o *object, name string, to *T, decode decoder[T]) {
	if o.err == nil && isNull(o.get(name)) {
		return
	}
	required(o, name, to, decode)
}

// optional reads a field that may be absent or null.
func optional[T any](o *object, name string, to *T, decode decoder[T]) {
	if o.err != nil {
		return
	}
	if raw := o.get(name); raw != nil && !isNull(raw) {
		set(o, name, to, raw, decode)
	}
}

// lenient reads a field that may be absent, null or nonsense.
func lenient[T any](o *object, name string, to *T, decode decoder[T]) {
	if o.err != nil {
		return
	}
	raw := o.get(name)
	if raw == nil || isNull(raw) {
		return
	}
	if v, err := decode(raw); err == nil {
		*to = v
	}
}

// patch reads a field whose null means something else than its absence.
func patch[T any](o *object, name string, to *Nullable[T], decode decoder[T]) {
	if o.err != nil {
		return
	}
	raw := o.get(name)
	if raw == nil {
		return
	}
	if isNull(raw) {
		*to = Null[T]()
		return
	}
	if v, err := decode(raw); err == nil {
		*to = Value(v)
	}
}

func set[T any](o *object, name string, to *T, raw []byte, decode decoder[T]) {
	v, err := decode(raw)
	if err != nil {
		o.err = at(name, err)
		return
	}
	*to = v
}

func isNull(raw []byte) bool { return string(raw) == "null" }

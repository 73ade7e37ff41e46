package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// text reads a string.
func text[T ~string](raw []byte) (T, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", problem("must be a string")
	}
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return T(inner), nil // nothing to decode, however long it is
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", problem("must be a string")
	}
	return T(s), nil
}

// enum reads a string of a closed set.
func enum[T interface {
	~string
	known() bool
}](raw []byte) (T, error) {
	v, err := text[T](raw)
	if err == nil && !v.known() {
		err = problem("has the unknown value %.40q", string(v))
	}
	if err != nil {
		return "", err
	}
	return v, nil
}

func boolean(raw []byte) (bool, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, problem("must be true or false")
}

// number reads a number that fits T.
func number[T ~uint16 | ~uint32 | ~uint64 | ~int64 | ~float64](raw []byte) (T, error) {
	var v T
	if isNull(raw) || json.Unmarshal(raw, &v) != nil {
		return 0, problem("must be a number in the range of %T", v)
	}
	return v, nil
}

// anything keeps a value as it is.
func anything(raw []byte) (json.RawMessage, error) { return bytes.Clone(raw), nil }

func meta(raw []byte) (map[string]any, error) {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return nil, problem("must be an object")
	}
	return m, nil
}

// unmarshaler is the pointer type of a struct that decodes itself.
type unmarshaler[T any] interface {
	*T
	json.Unmarshaler
}

// record reads a struct. It calls the struct's own method: json.Unmarshal would check
// the syntax once more at each level of nesting.
func record[T any, P unmarshaler[T]](raw []byte) (T, error) {
	var v T
	if err := P(&v).UnmarshalJSON(raw); err != nil {
		var zero T
		return zero, err
	}
	return v, nil
}

// pointer makes a decoder of *T out of one of T.
func pointer[T any](decode decoder[T]) decoder[*T] {
	return func(raw []byte) (*T, error) {
		v, err := decode(raw)
		if err != nil {
			return nil, err
		}
		return &v, nil
	}
}

// list reads an array and skips the elements that cannot be read.
func list[T any](decode decoder[T]) decoder[List[T]] {
	return func(raw []byte) (List[T], error) {
		parts, ok := elements(raw)
		if !ok {
			return nil, problem("must be an array")
		}
		values := make(List[T], 0, len(parts))
		for _, part := range parts {
			if v, err := decode(part); err == nil {
				values = append(values, v)
			}
		}
		return values, nil
	}
}

// strictList reads an array all of whose elements must be good.
func strictList[T any](decode decoder[T]) decoder[List[T]] {
	return func(raw []byte) (List[T], error) {
		parts, ok := elements(raw)
		if !ok {
			return nil, problem("must be an array")
		}
		values := make(List[T], len(parts))
		for i, part := range parts {
			v, err := decode(part)
			if err != nil {
				return nil, at(fmt.Sprintf("[%d]", i), err)
			}
			values[i] = v
		}
		return values, nil
	}
}

// dictionary reads an object with names that the schema does not know.
func dictionary[T any](decode decoder[T]) decoder[map[string]T] {
	return func(raw []byte) (map[string]T, error) {
		parts, ok := members(raw)
		if !ok {
			return nil, problem("must be an object")
		}
		values := make(map[string]T, len(parts))
		for _, part := range parts {
			name, err := text[string](part.name)
			if err != nil {
				return nil, err
			}
			v, err := decode(part.value)
			if err != nil {
				return nil, at(name, err)
			}
			values[name] = v
		}
		return values, nil
	}
}

// tagOf reads the discriminator of a union's variant; "" means that it is absent.
func tagOf(raw []byte, name string) (string, error) {
	o := parseObject(raw)
	var tag string
	optional(o, name, &tag, text[string])
	return tag, o.err
}

// has says whether an object has a member.
func has(raw []byte, name string) bool { return parseObject(raw).get(name) != nil }

// variant reads one variant T of the union U.
func variant[U, T any, P unmarshaler[T]](raw []byte) (U, error) {
	v, err := record[T, P](raw)
	if err != nil {
		var none U
		return none, err
	}
	u, _ := any(v).(U) // T is a variant of U
	return u, nil
}

// rawOrNull is the JSON of a variant that is not known.
func rawOrNull(raw json.RawMessage) ([]byte, error) {
	if raw == nil {
		return []byte("null"), nil
	}
	return raw, nil
}

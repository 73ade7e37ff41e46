package schema

import (
	"bytes"
	"encoding/json"
)

// List is an array of the protocol. Where it is required it encodes as `[]` when nil,
// where it is optional it is left out when nil, but not when merely empty.
type List[T any] []T

// MarshalJSON implements json.Marshaler.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// marshal is json.Marshal without HTML escapes, which an outer encoder could not undo.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

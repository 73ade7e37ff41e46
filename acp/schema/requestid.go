package schema

import "bytes"

// RequestId is the id of a JSON-RPC request, as raw JSON: a number, a string or null.
type RequestId string

// MarshalJSON implements json.Marshaler.
func (id RequestId) MarshalJSON() ([]byte, error) {
	if id == "" {
		return []byte("null"), nil
	}
	return []byte(id), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (id *RequestId) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || bytes.IndexByte([]byte(`-0123456789"n`), raw[0]) < 0 {
		return problem("must be a number, a string or null")
	}
	*id = RequestId(raw)
	return nil
}

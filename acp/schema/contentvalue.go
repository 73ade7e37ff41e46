package schema

import "encoding/json"

// ElicitationContentValue is what a user filled into one field of a form.
type ElicitationContentValue struct {
	Value any // a string, bool, json.Number or []string
}

// MarshalJSON implements json.Marshaler.
func (v ElicitationContentValue) MarshalJSON() ([]byte, error) { return marshal(v.Value) }

// UnmarshalJSON implements json.Unmarshaler.
func (v *ElicitationContentValue) UnmarshalJSON(raw []byte) error {
	if s, err := text[string](raw); err == nil {
		v.Value = s
		return nil
	}
	if b, err := boolean(raw); err == nil {
		v.Value = b
		return nil
	}
	if _, err := number[float64](raw); err == nil {
		v.Value = json.Number(raw)
		return nil
	}
	texts, err := strictList(text[string])(raw)
	if err != nil {
		return problem("must be a string, a number, a boolean or an array of strings")
	}
	v.Value = []string(texts)
	return nil
}

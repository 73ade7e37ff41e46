package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Param is one member of a request's body.
type Param struct {
	Name string
	Text []byte // JSON
}

// ExtraParams returns the members that the configuration adds, by name. Those of fixed
// cannot be replaced.
func ExtraParams(extra map[string]any, fixed ...string) ([]Param, error) {
	var params []Param
	for name, value := range extra {
		if slices.Contains(fixed, name) {
			return nil, fmt.Errorf("extra body: %q cannot be replaced", name)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("extra body %q: %w", name, err)
		}
		params = append(params, Param{name, text})
	}
	slices.SortFunc(params, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	return params, nil
}

// WithExtra returns own without those of its members that extra replaces, and extra.
func WithExtra(own, extra []Param) []Param {
	own = slices.DeleteFunc(own, func(one Param) bool {
		return slices.ContainsFunc(extra, func(other Param) bool { return other.Name == one.Name })
	})
	return append(own, extra...)
}

// AppendParams writes the members, each after a comma.
func AppendParams(b []byte, params []Param) []byte {
	for _, one := range params {
		b = append(b, ',')
		b = AppendString(b, one.Name)
		b = append(b, ':')
		b = append(b, one.Text...)
	}
	return b
}

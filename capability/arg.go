package capability

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ArgKind says how an ArgPattern compares.
type ArgKind uint8

// The three kinds of R110.
const (
	ArgExact    ArgKind = iota // the argument equals Text
	ArgPrefix                  // the argument begins with Text
	ArgWildcard                // any one argument
)

// ArgPattern matches exactly one argument of a command (R110). Its JSON forms are
// "text", {"prefix":"text"} and {"wildcard":true}.
type ArgPattern struct {
	Kind ArgKind
	Text string // unused by ArgWildcard
}

// Match reports whether the pattern accepts this one argument.
func (p ArgPattern) Match(arg string) bool {
	switch p.Kind {
	case ArgExact:
		return arg == p.Text
	case ArgPrefix:
		return strings.HasPrefix(arg, p.Text)
	case ArgWildcard:
		return true
	default:
		return false
	}
}

// MarshalJSON writes the short form for the kind.
func (p ArgPattern) MarshalJSON() ([]byte, error) {
	switch p.Kind {
	case ArgExact:
		return json.Marshal(p.Text)
	case ArgPrefix:
		return json.Marshal(map[string]string{"prefix": p.Text})
	case ArgWildcard:
		return []byte(`{"wildcard":true}`), nil
	default:
		return nil, fmt.Errorf("argument pattern: unknown kind %d", p.Kind)
	}
}

// UnmarshalJSON reads one of the three forms and refuses everything else, including
// unknown members and {"wildcard":false}: a form that is half understood could grant
// more than its author meant.
func (p *ArgPattern) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		if string(bytes.TrimSpace(data)) == "null" {
			return errors.New("argument pattern: null is not a pattern")
		}
		*p = ArgPattern{Kind: ArgExact, Text: text}
		return nil
	}
	var form struct {
		Wildcard *bool   `json:"wildcard"`
		Prefix   *string `json:"prefix"`
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&form); err != nil {
		return fmt.Errorf("argument pattern %s: %w", data, err)
	}
	switch {
	case form.Wildcard != nil && form.Prefix == nil && *form.Wildcard:
		*p = ArgPattern{Kind: ArgWildcard}
	case form.Prefix != nil && form.Wildcard == nil:
		*p = ArgPattern{Kind: ArgPrefix, Text: *form.Prefix}
	default:
		return fmt.Errorf(`argument pattern %s: must be a string, {"wildcard":true} or {"prefix":"text"}`, data)
	}
	return nil
}

package schema

import (
	"errors"
	"fmt"
	"strings"
)

// FieldError says which field of a message is missing or malformed.
type FieldError struct {
	Path    string // from the message's root, such as `prompt[2].text`; "" is the root
	Problem string // such as "is missing"
}

// Error implements error.
func (e *FieldError) Error() string {
	if e.Path == "" {
		return "the value " + e.Problem
	}
	return e.Path + " " + e.Problem
}

func problem(format string, args ...any) error {
	return &FieldError{Problem: fmt.Sprintf(format, args...)}
}

// at puts a step in front of the path of err: a member name, or an index in brackets.
func at(step string, err error) error {
	inner, ok := errors.AsType[*FieldError](err)
	if !ok {
		return &FieldError{Path: step, Problem: "is malformed"}
	}
	path := step
	if inner.Path != "" && !strings.HasPrefix(inner.Path, "[") {
		path += "."
	}
	return &FieldError{Path: path + inner.Path, Problem: inner.Problem}
}

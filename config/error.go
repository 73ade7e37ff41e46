package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Error is a mistake in a file or a variable. Its text never holds a secret value.
type Error struct {
	// File is the path of the file, or the name of the variable of the environment.
	File string
	// Line and Column count from 1, Column in bytes; both are 0 when they do not apply.
	Line, Column int
	// Field is the path of the field, such as "limits.max_steps"; it may be empty.
	Field string
	// Problem says what is wrong and what is expected instead.
	Problem string
	// Err is the cause, if there is one.
	Err error
}

// Error implements error: file:line:column: field: problem.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	if e.Field != "" {
		b.WriteString(": " + e.Field)
	}
	b.WriteString(": " + e.Problem)
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

package tools

import (
	"context"
)

// LanguageServers answers questions about code (R98).
type LanguageServers interface {
	Ask(ctx context.Context, q LanguageQuery) (*LanguageAnswer, error)
	// Any reports whether any of them can be started.
	Any() bool
}

// The operations of a LanguageQuery.
const (
	Definitions = "definitions"
	References  = "references"
	Diagnostics = "diagnostics"
)

// LanguageQuery is one question about a file.
type LanguageQuery struct {
	Operation string
	// Path is absolute.
	Path string
	// Line and Column are 1-based; Column counts characters.
	Line, Column int
	// Text is the file as the user sees it.
	Text string
}

// LanguageAnswer is what a language server knows.
type LanguageAnswer struct {
	// Server is the name of the language server that answered.
	Server      string
	Locations   []CodeLocation
	Diagnostics []Diagnostic
}

// CodeLocation is a place in a file; Text is its line, when it is known.
type CodeLocation struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Text   string `json:"text,omitempty"`
}

// Diagnostic is one finding of a language server.
type Diagnostic struct {
	Path     string `json:"path"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	Source   string `json:"source,omitempty"`
	Code     string `json:"code,omitempty"`
}

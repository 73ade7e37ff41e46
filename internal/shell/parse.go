package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Dialect is the language in which a text will be run, and so must be read (C7).
type Dialect uint8

// The dialects. The zero value is bash.
const (
	Bash  Dialect = iota
	POSIX         // only sh exists on this machine (R54)
)

// Parse reads a program. The error is the parser's own and says where it stopped.
func Parse(text string, dialect Dialect) (*syntax.File, error) {
	variant := syntax.LangBash
	if dialect == POSIX {
		variant = syntax.LangPOSIX
	}
	return syntax.NewParser(syntax.Variant(variant), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

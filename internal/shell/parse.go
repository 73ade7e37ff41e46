package shell

import (
	"errors"
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

// errContinued refuses a text in which the parser and the shell may not agree on where
// a line ends.
var errContinued = errors.New("a backslash at the end of a line, together with # or a here-document, is not read the same way everywhere")

// Parse reads a program. The error is the parser's own and says where it stopped, or
// that the text continues a line that may hold a comment or belong to a here-document.
func Parse(text string, dialect Dialect) (*syntax.File, error) {
	if doubtfulEnd(text) {
		return nil, errContinued
	}
	variant := syntax.LangBash
	if dialect == POSIX {
		variant = syntax.LangPOSIX
	}
	return syntax.NewParser(syntax.Variant(variant), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
}

// doubtfulEnd reports a line that a backslash continues while it, or what continues it,
// holds a "#"; or any such line in a text with a here-document. A shell ends a comment
// at the newline whatever stands before it; the parser reads on, and so could take the
// next command for a piece of this one. Whether the "#" starts a comment is left open
// on purpose: that is where the two disagree.
func doubtfulEnd(text string) bool {
	document := strings.Contains(text, "<<")
	logical := 0
	for i := range len(text) {
		if text[i] != '\n' {
			continue
		}
		if i > 0 && text[i-1] == '\\' {
			if document {
				return true
			}
			continue
		}
		if line := text[logical:i]; strings.Contains(line, "\\\n") && strings.Contains(line, "#") {
			return true
		}
		logical = i + 1
	}
	line := text[logical:]
	return strings.Contains(line, "\\\n") && strings.Contains(line, "#")
}

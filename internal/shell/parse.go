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

// ErrDoubtful refuses a text that the parser and the shell may not take apart in the same
// way, see Parse.
var ErrDoubtful = errors.New("a line that a backslash continues, together with # or a here-document, or the delimiter of a here-document is not read the same way everywhere")

// Parse reads a program. The error is the parser's own and says where it stopped, or it
// is ErrDoubtful: the text has one of the forms in which the parser is known to differ
// from shells, and Confirm does not find that it reads this one as it should.
func Parse(text string, dialect Dialect) (*syntax.File, error) {
	variant := syntax.LangBash
	if dialect == POSIX {
		variant = syntax.LangPOSIX
	}
	file, err := syntax.NewParser(syntax.Variant(variant), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, err
	}
	if (doubtfulEnd(text) || doubtfulDocument(text, file)) && Confirm(text, file, dialect, AnyEncoding) != nil {
		return nil, ErrDoubtful
	}
	return file, nil
}

// doubtfulDocument reports a here-document, at any depth, whose delimiter is not a plain
// word: its quotes are removed differently, and so it ends at another line.
func doubtfulDocument(text string, file *syntax.File) bool {
	doubtful := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) {
			word, _ := plainDelimiter(text[r.Word.Pos().Offset():r.Word.End().Offset()])
			doubtful = doubtful || word == ""
		}
		return !doubtful
	})
	return doubtful
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

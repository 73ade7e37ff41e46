package shell

import (
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"
)

// event is one piece of a program as a reader finds it: a word with its value, an operator
// or a keyword, and where in the text it stands.
type event struct {
	kind     eventKind
	from, to int
	value    string
}

type eventKind uint8

const (
	eventOperator eventKind = iota // also keywords
	eventCommand                   // the first word of a simple command
	eventArgument                  // any other word of it
	eventPattern                   // a word of a case clause
	eventTarget                    // the word of a redirection
)

// outsideError says why a text does not belong to the plain language.
type outsideError struct {
	what string
	at   int
}

func (e *outsideError) Error() string { return fmt.Sprintf("%s at byte %d", e.what, e.at) }

// scanner takes tokens of the plain language from a text, see plainReader.
type scanner struct {
	text     string
	at       int
	dialect  Dialect
	encoding Encoding
	pending  []document // here-documents whose bodies begin after this line
	events   []event
	err      *outsideError // the first one ends the reading
}

// document is a here-document whose body is still to come.
type document struct {
	delimiter string
	quoted    bool
	tabs      bool // "<<-" strips them
}

// fail ends the reading: the rest of the text is not looked at.
func (s *scanner) fail(what string) {
	if s.err == nil {
		s.err = &outsideError{what: what, at: s.at}
	}
	s.at, s.pending = len(s.text), nil
}

func (s *scanner) emit(kind eventKind, from int, value string) {
	s.events = append(s.events, event{kind: kind, from: from, to: s.at, value: value})
}

// peek returns the byte at a distance, or 0 after the end; CheckText refuses NUL.
func (s *scanner) peek(ahead int) byte {
	if s.at+ahead >= len(s.text) {
		return 0
	}
	return s.text[s.at+ahead]
}

// blanks skips spaces, tabs, continued lines and a comment. A line is continued after a
// blank only, and a comment starts after a blank, a newline or a semicolon only: where
// else either could start is not the same for every shell.
func (s *scanner) blanks() {
	continued := false
	for {
		switch before := s.before(); {
		case s.peek(0) == ' ' || s.peek(0) == '\t':
			s.at++
		case s.peek(0) == '\\' && s.peek(1) == '\n':
			if before != ' ' && before != '\t' {
				s.fail("a line that is continued inside of a word or an operator")
				return
			}
			s.at, continued = s.at+2, true
		case s.peek(0) == '#':
			if continued || !strings.ContainsRune(" \t\n;", rune(before)) {
				s.fail("a comment that does not follow a blank")
				return
			}
			for s.at < len(s.text) && s.text[s.at] != '\n' {
				s.at++
			}
			if s.before() == '\\' {
				s.fail("a comment that ends in a backslash")
				return
			}
		default:
			return
		}
	}
}

// before is the byte before the current one; the start of the text counts as a newline.
func (s *scanner) before() byte {
	if s.at == 0 {
		return '\n'
	}
	return s.text[s.at-1]
}

// operators of the plain language, the longest first.
var operators = []string{"<<<", "<<-", "&>>", "&&", "||", ";;", "|&", "&>", "<<", ">>", ">|", "<&", ">&", "<>", "|", "&", ";", "(", ")", "<", ">"}

// operator returns the operator at the current position without taking it; "" is none.
func (s *scanner) operator() string {
	s.blanks()
	rest := s.text[s.at:]
	for _, op := range operators {
		if !strings.HasPrefix(rest, op) {
			continue
		}
		switch next := s.peek(len(op)); {
		case s.dialect == POSIX && (op == "|&" || op == "&>" || op == "&>>" || op == "<<<"),
			op == "(" && next == '(', op == ";;" && (next == '&' || next == ';'), op == ";" && next == '&',
			(op == "<" || op == ">") && next == '(':
			s.fail("an operator that not every shell knows")
			return ""
		}
		return op
	}
	return ""
}

// take takes an operator or a keyword that is known to stand here.
func (s *scanner) take(text string) {
	from := s.at
	s.at += len(text)
	s.emit(eventOperator, from, text)
}

// newline takes a newline and the bodies of the here-documents that begin after it.
func (s *scanner) newline() bool {
	s.blanks()
	if s.peek(0) != '\n' {
		return false
	}
	s.at++
	for _, doc := range s.pending {
		s.document(doc)
	}
	s.pending = nil
	return true
}

// document takes the lines of a here-document and its delimiter.
func (s *scanner) document(doc document) {
	for s.at < len(s.text) {
		line, _, found := strings.Cut(s.text[s.at:], "\n")
		if s.at += len(line); found {
			s.at++
		}
		if doc.tabs {
			line = strings.TrimLeft(line, "\t")
		}
		if line == doc.delimiter {
			return
		}
		if !doc.quoted && (strings.ContainsAny(line, "$`") || strings.HasSuffix(line, `\`)) {
			s.fail("a here-document that the shell expands")
			return
		}
	}
	s.fail("a here-document without its end")
}

// token is a word as it was scanned.
type token struct {
	from  int
	value string
	bare  bool // nothing in it is quoted or escaped
	// assigns says that it holds an unquoted "=".
	assigns bool
}

// bareWord returns the word at the current position without taking it, if it is made of
// letters and marks of keywords; "" if there is none.
func (s *scanner) bareWord() string {
	s.blanks()
	end := s.at
	for end < len(s.text) && !strings.ContainsRune(" \t\n|&;()<>", rune(s.text[end])) {
		end++
	}
	return s.text[s.at:end]
}

// word takes a word; ok is false when none stands here.
func (s *scanner) word() (w token, ok bool) {
	s.blanks()
	w = token{from: s.at, bare: true}
	var b strings.Builder
	for s.at < len(s.text) && !strings.ContainsRune(" \t\n|&;()<>", rune(s.text[s.at])) {
		s.piece(&b, &w)
	}
	if s.at == w.from {
		return token{}, false
	}
	if s.peek(0) == '(' {
		s.fail("a parenthesis that follows a word")
	}
	w.value = b.String()
	return w, true
}

// piece takes one quoted part or one character of a word.
func (s *scanner) piece(b *strings.Builder, w *token) {
	switch c := s.text[s.at]; {
	case c == '\'':
		w.bare = false
		s.singleQuoted(b)
	case c == '"':
		w.bare = false
		s.doubleQuoted(b)
	case c == '$' && s.peek(1) == '\'' && s.dialect == Bash:
		w.bare = false
		s.ansiQuoted(b)
	case c == '\\':
		w.bare = false
		if next := s.peek(1); next == 0 || next == '\n' || next >= utf8.RuneSelf {
			s.fail("a backslash before a character that is not plain")
			return
		}
		b.WriteByte(s.text[s.at+1])
		s.at += 2
	case c == '$' || c == '`':
		s.fail("an expansion")
	case c == '{' || c == '}':
		if word := s.bareWord(); s.at != w.from || word != "{" && word != "}" {
			s.fail("a brace inside of a word")
			return
		}
		b.WriteByte(c)
		s.at++
	case c >= utf8.RuneSelf:
		s.foreign(b, true)
	default:
		w.assigns = w.assigns || c == '='
		b.WriteByte(c)
		s.at++
	}
}

// foreign takes a character that is not ASCII. Unless the encoding is known, a byte must not
// follow that some encoding takes for the rest of the character while the shell would take it
// for a mark. Outside of quotes the character must not look like a blank, nor hold a byte that
// the system takes for one, as some do in UTF-8, too; Linux does not.
func (s *scanner) foreign(b *strings.Builder, unquoted bool) {
	char, size := utf8.DecodeRuneInString(s.text[s.at:])
	encoded := s.text[s.at : s.at+size]
	bytesCount := s.encoding != UTF8 || runtime.GOOS != "linux"
	if unquoted && (unicode.IsSpace(char) || bytesCount && (strings.IndexByte(encoded, 0x85) >= 0 || strings.IndexByte(encoded, 0xa0) >= 0)) {
		s.fail("a character that some systems take for a blank")
		return
	}
	b.WriteString(encoded)
	s.at += size
	if next := s.peek(0); s.encoding != UTF8 && (next == '\\' || next == '`' || unquoted && next == '|') {
		s.fail("a mark that some encodings take for a part of the character before it")
	}
}

func (s *scanner) singleQuoted(b *strings.Builder) {
	end := strings.IndexByte(s.text[s.at+1:], '\'')
	if end < 0 {
		s.fail("a quote without its end")
		return
	}
	b.WriteString(s.text[s.at+1 : s.at+1+end])
	s.at += end + 2
}

// literalDollar are the bytes before which a "$" between double quotes is itself.
const literalDollar = "\" |)/,.:;=%^&+~<>]}\t\n\\"

func (s *scanner) doubleQuoted(b *strings.Builder) {
	for s.at++; s.at < len(s.text); {
		switch c, next := s.text[s.at], s.peek(1); {
		case c == '"':
			s.at++
			return
		case c == '\\' && next == '\n', c == '`', c == '$' && (next == 0 || !strings.ContainsRune(literalDollar, rune(next))):
			s.fail("an expansion")
			return
		case c == '\\' && (next == '$' || next == '`' || next == '"' || next == '\\'):
			b.WriteByte(next)
			s.at += 2
		case c >= utf8.RuneSelf:
			s.foreign(b, false)
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	s.fail("a quote without its end")
}

// ansiQuoted takes $'…' with the plainest escapes alone.
func (s *scanner) ansiQuoted(b *strings.Builder) {
	from := s.at + 2
	for s.at = from; s.at < len(s.text); s.at++ {
		switch s.text[s.at] {
		case '\\':
			s.at++
		case '\'':
			value, ok := ansiQuoted(s.text[from:s.at])
			if !ok {
				s.fail("an escape that is not a plain one")
				return
			}
			b.WriteString(value)
			s.at++
			return
		}
	}
	s.fail("a quote without its end")
}

package shell

import (
	"slices"
	"strings"
)

// plainReader reads the plain language: the part of the shell's language that every
// bash, and apart from a few operators every POSIX shell, reads in the same way. It has
// words of literal characters in the usual quotes, lists, pipelines, subshells, blocks,
// if, case, redirections to words, and here-documents with a plain delimiter. It is kept
// apart from the parser on purpose and shares no code with it: what both of them read in
// the same way leaves no room for a mistake of either (C1).
type plainReader struct {
	scanner
	depth int
}

// maxPlainDepth bounds the recursion of the reader.
const maxPlainDepth = 200

// readPlain returns the pieces of a program, or an *outsideError.
func readPlain(text string, dialect Dialect, encoding Encoding) ([]event, error) {
	r := &plainReader{scanner: scanner{text: text, dialect: dialect, encoding: encoding}}
	r.list()
	if r.blanks(); r.at < len(text) || len(r.pending) > 0 {
		r.fail("a word or an operator that does not belong there")
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.events, nil
}

// keywords are the words that mean something of their own where a command may start.
var keywords = strings.Fields("if then elif else fi case esac for while until do done select function time coproc in { } ! [[ ]]")

func keyword(w token) bool { return w.bare && slices.Contains(keywords, w.value) }

// keywordAhead returns the keyword that stands where a command may start.
func (r *plainReader) keywordAhead() string {
	if word := r.bareWord(); slices.Contains(keywords, word) {
		return word
	}
	return ""
}

func (r *plainReader) expect(word string) {
	if r.keywordAhead() != word {
		r.fail("a construct that is not closed as it should be")
		return
	}
	r.take(word)
}

func (r *plainReader) newlines() {
	for r.newline() {
	}
}

// list reads statements up to a word or an operator that cannot start one. It returns
// how many there were.
func (r *plainReader) list() int {
	if r.depth++; r.depth > maxPlainDepth {
		r.fail("too much nesting")
	}
	defer func() { r.depth-- }()
	count := 0
	for r.newlines(); r.starts(); r.newlines() {
		r.andOr()
		count++
		switch op := r.operator(); op {
		case ";", "&":
			r.take(op)
		case "":
			if r.blanks(); r.peek(0) != '\n' {
				return count
			}
		default:
			return count
		}
	}
	return count
}

func (r *plainReader) body(word string) {
	if r.list() == 0 {
		r.fail("a construct without a command")
	}
	r.expect(word)
}

// starts reports whether a statement starts here.
func (r *plainReader) starts() bool {
	switch op := r.operator(); {
	case op != "":
		return op == "(" || redirection(op)
	case r.at >= len(r.text):
		return false
	}
	switch word := r.keywordAhead(); word {
	case "", "if", "case", "{", "!":
		return true
	case "then", "elif", "else", "fi", "esac", "}":
		return false
	default:
		r.fail(word + ", which is not part of the plain language")
		return false
	}
}

func (r *plainReader) andOr() {
	for {
		r.pipeline()
		op := r.operator()
		if op != "&&" && op != "||" {
			return
		}
		r.take(op)
		r.newlines()
	}
}

func (r *plainReader) pipeline() {
	if r.operator() == "" && r.keywordAhead() == "!" {
		r.take("!")
		if r.peek(0) != ' ' || r.keywordAhead() == "!" {
			r.fail("a negation of nothing")
		}
	}
	for {
		r.command()
		op := r.operator()
		if op != "|" && op != "|&" {
			return
		}
		r.take(op)
		r.newlines()
	}
}

func (r *plainReader) command() {
	switch op := r.operator(); {
	case op == "(":
		r.take(op)
		if r.list() == 0 || r.operator() != ")" {
			r.fail("a subshell that is not closed")
			return
		}
		r.take(")")
		r.redirections()
		return
	case redirection(op):
		r.simple()
		return
	case op != "":
		r.fail("an operator that does not belong there")
	}
	switch word := r.keywordAhead(); word {
	case "":
		r.simple()
		return
	case "{":
		r.take(word)
		r.body("}")
	case "if":
		r.ifClause()
	case "case":
		r.caseClause()
	default:
		r.fail(word + ", which does not belong there")
	}
	r.redirections()
}

func (r *plainReader) ifClause() {
	r.take("if")
	r.body("then")
	for {
		if r.list() == 0 {
			r.fail("a construct without a command")
		}
		switch word := r.keywordAhead(); word {
		case "elif":
			r.take(word)
			r.body("then")
		case "else":
			r.take(word)
			r.body("fi")
			return
		default:
			r.expect("fi")
			return
		}
	}
}

func (r *plainReader) caseClause() {
	r.take("case")
	r.pattern()
	r.newlines()
	r.expect("in")
	for r.newlines(); r.operator() != "" || r.keywordAhead() != "esac"; r.newlines() {
		if r.operator() == "(" {
			r.at++
		}
		for r.pattern(); r.operator() == "|"; r.pattern() {
			r.at++
		}
		if r.operator() != ")" {
			r.fail("a pattern that is not closed")
			return
		}
		r.at++
		r.list()
		if r.operator() != ";;" {
			break
		}
		r.take(";;")
	}
	r.expect("esac")
}

func (r *plainReader) pattern() {
	w, ok := r.word()
	if !ok || keyword(w) {
		r.fail("a pattern that is not a plain word")
	}
	r.emit(eventPattern, w.from, w.value)
}

// simple reads a simple command.
func (r *plainReader) simple() {
	kind := eventCommand
	for {
		if r.redirect() {
			continue
		}
		if r.operator() != "" {
			return
		}
		w, ok := r.word()
		if !ok {
			return
		}
		if kind == eventCommand && (keyword(w) || w.assigns) {
			r.fail("a keyword or an assignment before a command")
		}
		r.emit(kind, w.from, w.value)
		kind = eventArgument
	}
}

func (r *plainReader) redirections() {
	for r.redirect() {
	}
	if r.blanks(); r.at < len(r.text) && r.operator() == "" && r.keywordAhead() == "" && r.peek(0) != '\n' {
		r.fail("a word after a construct")
	}
}

func redirection(op string) bool { return strings.ContainsAny(op, "<>") }

// redirect reads a redirection with the number before it, if one stands here.
func (r *plainReader) redirect() bool {
	r.blanks()
	from, digits := r.at, 0
	for '0' <= r.peek(digits) && r.peek(digits) <= '9' {
		digits++
	}
	if digits > 0 {
		if next := r.peek(digits); next != '<' && next != '>' {
			return false
		}
		if digits > 2 {
			r.fail("a file descriptor of many digits")
			return false
		}
	}
	r.at += digits
	op := r.operator()
	if !redirection(op) || digits > 0 && r.at != from+digits {
		r.at = from
		return false
	}
	r.at += len(op)
	r.emit(eventOperator, from, r.text[from:from+digits]+op)
	switch op {
	case "<<", "<<-":
		r.delimiter(op == "<<-")
	case "<&", ">&":
		r.descriptor()
	default:
		w, ok := r.word()
		if !ok {
			r.fail("a redirection without a file")
		}
		r.emit(eventTarget, w.from, w.value)
	}
	return true
}

// descriptor reads what a descriptor is copied from.
func (r *plainReader) descriptor() {
	w, ok := r.word()
	digits := strings.TrimSuffix(w.value, "-")
	if !ok || !w.bare || len(digits) > 2 || strings.Trim(digits, "0123456789") != "" {
		r.fail("a redirection to what is not a file descriptor")
	}
	r.emit(eventTarget, w.from, w.value)
}

// delimiter reads the delimiter of a here-document.
func (r *plainReader) delimiter(tabs bool) {
	r.blanks()
	from := r.at
	raw := r.bareWord()
	word, quoted := plainDelimiter(raw)
	if word == "" {
		r.fail("a here-document whose delimiter is not a plain word")
		return
	}
	if r.at += len(raw); r.peek(0) == '(' {
		r.fail("a parenthesis that follows a word")
	}
	r.emit(eventTarget, from, word)
	r.pending = append(r.pending, document{delimiter: word, quoted: quoted, tabs: tabs})
}

// plainDelimiter returns the word of a delimiter that every reader ends at the same line:
// ASCII letters, digits, "_", and after the first of these "-" and ".", either bare, in
// one pair of quotes or after one backslash. For any other it returns "".
func plainDelimiter(raw string) (word string, quoted bool) {
	word = raw
	switch {
	case len(raw) > 2 && (raw[0] == '\'' || raw[0] == '"') && raw[len(raw)-1] == raw[0]:
		word, quoted = raw[1:len(raw)-1], true
	case strings.HasPrefix(raw, `\`):
		word, quoted = raw[1:], true
	}
	for i := range len(word) {
		c := word[i] | 0x20
		letter := 'a' <= c && c <= 'z' && word[i] != '[' || '0' <= word[i] && word[i] <= '9' || word[i] == '_'
		if !letter && (i == 0 || word[i] != '-' && word[i] != '.') {
			return "", false
		}
	}
	return word, quoted
}

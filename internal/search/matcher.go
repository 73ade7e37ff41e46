package search

import (
	"bytes"
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// errCrossesLines refuses a pattern that only text over two lines could match.
var errCrossesLines = errors.New("a line break cannot match: every line is searched on its own")

// A matcher is a compiled pattern, read-only and shared by all workers.
type matcher struct {
	finder *finder // nil: no literal is worth looking for
	exact  bool    // a line with a literal is a match
	prog   *program
	re     *regexp.Regexp // judges lines where prog is nil or worn out
}

// compile prepares a pattern. The syntax is RE2; literal takes it as text.
func compile(pattern string, literal, caseSensitive bool) (*matcher, error) {
	expr := pattern
	if literal {
		expr = regexp.QuoteMeta(pattern)
	}
	flags := syntax.Perl
	if !caseSensitive {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(expr, flags)
	if err != nil {
		return nil, &PatternError{Pattern: pattern, Err: err}
	}
	if needsLineBreak(parsed) {
		return nil, &PatternError{Pattern: pattern, Err: errCrossesLines}
	}
	if !caseSensitive {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, &PatternError{Pattern: pattern, Err: err}
	}
	m := &matcher{prog: newProgram(parsed), re: re}
	if l := requiredLiterals(parsed); scanCost(l.set, l.fold) < costDFA {
		m.finder, m.exact = newFinder(l), l.exact
	}
	return m, nil
}

// needsLineBreak reports whether every match of re contains a line break.
func needsLineBreak(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCapture, syntax.OpPlus:
		return needsLineBreak(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && needsLineBreak(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if needsLineBreak(sub) {
				return true
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !needsLineBreak(sub) {
				return false
			}
		}
		return len(re.Sub) > 0
	}
	return false
}

// An engine runs a matcher over texts, one at a time; each worker has its own.
type engine struct {
	m       *matcher
	cursor  *cursor
	dfa     *automaton
	trusted bool // the literals can be relied on in the present text
}

func (m *matcher) engine() *engine {
	e := &engine{m: m}
	if m.finder != nil {
		e.cursor = newCursor(m.finder)
	}
	if m.prog != nil {
		e.dfa = newAutomaton(m.prog)
	}
	return e
}

// begin takes up a new text, made of whole lines.
func (e *engine) begin(b []byte) {
	e.trusted = e.cursor != nil && e.cursor.reset(b)
}

// next is the first line at or after pos, the start of a line, that matches;
// end is where its content ends, before the terminator. ok is false when there
// is none.
func (e *engine) next(b []byte, pos int) (start, end int, ok bool) {
	if !e.trusted {
		return e.scan(b, pos)
	}
	for pos < len(b) {
		hit := e.cursor.find(b, pos)
		if hit < 0 {
			return 0, 0, false
		}
		start, end, after := lineAround(b, hit)
		if e.m.exact || e.matches(b[start:end]) {
			return start, end, true
		}
		pos = after
	}
	return 0, 0, false
}

// scan looks at every byte.
func (e *engine) scan(b []byte, pos int) (start, end int, ok bool) {
	if e.dfa != nil && !e.dfa.worn() {
		hit := e.dfa.scan(b, pos)
		if hit < 0 {
			return 0, 0, false
		}
		start, end, _ = lineAround(b, hit)
		return start, end, true
	}
	for pos < len(b) {
		start, end, after := lineAround(b, pos)
		if e.m.re.Match(b[start:end]) {
			return start, end, true
		}
		pos = after
	}
	return 0, 0, false
}

// matches judges one line without its terminator.
func (e *engine) matches(line []byte) bool {
	if e.dfa != nil && !e.dfa.worn() && len(line) > 0 {
		return e.dfa.scan(line, 0) >= 0
	}
	return e.m.re.Match(line)
}

// lineAround is the line that holds position at: content without terminator
// (LF or CRLF), and where the next line starts. A terminator belongs to the
// line it ends.
func lineAround(b []byte, at int) (start, end, after int) {
	start = bytes.LastIndexByte(b[:at], '\n') + 1
	end, after = len(b), len(b)
	if nl := bytes.IndexByte(b[at:], '\n'); nl >= 0 {
		end, after = at+nl, at+nl+1
		if end > start && b[end-1] == '\r' {
			end--
		}
	}
	return start, end, after
}

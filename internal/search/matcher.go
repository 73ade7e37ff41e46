package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
)

// errCrossesLines refuses a pattern that only text over two lines could match.
var errCrossesLines = errors.New("a line break cannot match: every line is searched on its own")

// Limits of an expression. The work for each character of a text grows with the number
// of instructions.
const (
	maxExpression   = 10_000 // bytes
	maxInstructions = 10_000
)

// errExpression refuses an expression that would take too long.
var errExpression = fmt.Errorf("it is too large: the limit is %d bytes, and %d instructions when its repetitions are written out", maxExpression, maxInstructions)

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
	if len(pattern) > maxExpression {
		return nil, &PatternError{Pattern: pattern[:80] + "…", Err: errExpression}
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
	if instructions(parsed) > maxInstructions {
		return nil, &PatternError{Pattern: pattern, Err: errExpression}
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

// rangesAlike is how many ranges of a class of runes count as one instruction.
const rangesAlike = 32

// instructions estimates the size of an expression with its repetitions written out.
func instructions(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n += len(re.Rune) / (2 * rangesAlike)
	}
	for _, sub := range re.Sub {
		n = min(n+instructions(sub), 2*maxInstructions)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(re.Min, re.Max, 1), 2*maxInstructions)
	}
	return n
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
	trusted bool        // the literals can be relied on in the present text
	ended   func() bool // the search was cancelled
}

func (m *matcher) engine() *engine {
	e := &engine{m: m, ended: func() bool { return false }}
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
	for pos < len(b) && !e.ended() {
		start, end, after := lineAround(b, pos)
		if e.judge(b[start:end]) {
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
	return e.judge(line)
}

const (
	// shortLine is the length up to which a line is judged without a look at the end
	// of the search.
	shortLine = 512
	// stride is after how many runes of a longer one the end is looked for.
	stride = 128
)

// judge matches a line by the expression itself. The answer is worth nothing when the
// search has ended meanwhile.
func (e *engine) judge(line []byte) bool {
	if len(line) <= shortLine {
		return e.m.re.Match(line)
	}
	return e.m.re.MatchReader(&endable{Reader: bytes.NewReader(line), ended: e.ended})
}

// endable reads a line until the search has ended.
type endable struct {
	*bytes.Reader
	ended func() bool
	read  int
}

// ReadRune implements io.RuneReader.
func (r *endable) ReadRune() (rune, int, error) {
	if r.read++; r.read%stride == 0 && r.ended() {
		return 0, 0, io.EOF
	}
	return r.Reader.ReadRune()
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

package search

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	windowSize   = 128 << 10 // what is read at once
	maxWholeLine = 1 << 20   // a longer line is judged in pieces and listed up to here
	binaryProbe  = 8 << 10   // where a NUL makes a file binary
)

// errBinary ends the search of a file that is not text.
var errBinary = errors.New("binary file")

// A scanner searches one file after another through one window of memory, so
// that a file of any size costs the same. Each worker has its own.
type scanner struct {
	engine *engine
	buf    []byte
	// match is told every matching line: its number and content, which is only
	// valid during the call. cut says that content is but the head of the line.
	match func(line int, content []byte, cut bool) error
}

func newScanner(m *matcher) *scanner {
	return &scanner{engine: m.engine(), buf: make([]byte, windowSize)}
}

// search reads r to its end. Its errors are those of r, of match, of ctx, or
// errBinary.
func (s *scanner) search(ctx context.Context, r io.Reader) error {
	line, filled, first := 1, 0, true
	s.engine.ended = func() bool { return ctx.Err() != nil }
	for {
		n, err := fill(r, s.buf[filled:])
		filled += n
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		text := s.buf[:filled]
		if first && isBinary(text) {
			return errBinary
		}
		first = false
		if err != nil {
			_, err := s.window(text, line)
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		whole := bytes.LastIndexByte(text, '\n') + 1
		switch {
		case whole > 0:
			if line, err = s.window(text[:whole], line); err != nil {
				return err
			}
			filled = copy(s.buf, text[whole:])
		case len(s.buf) < maxWholeLine:
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		default:
			if filled, err = s.longLine(ctx, r, line); err != nil {
				return err
			}
			line++
		}
	}
}

// window searches whole lines, the first of which has the number line, and
// returns the number of the line after them.
func (s *scanner) window(text []byte, line int) (int, error) {
	s.engine.begin(text)
	counted := 0
	for pos := 0; pos < len(text) && !s.engine.ended(); {
		start, end, ok := s.engine.next(text, pos)
		if !ok {
			break
		}
		line += bytes.Count(text[counted:start], newline)
		counted = start
		if err := s.match(line, text[start:end], false); err != nil {
			return line, err
		}
		pos = len(text)
		if nl := bytes.IndexByte(text[end:], '\n'); nl >= 0 {
			pos = end + nl + 1
		}
	}
	return line + bytes.Count(text[counted:], newline), nil
}

// longLine judges the line that fills the whole buffer and goes on in r. It
// returns how much of the text after the line stands in the buffer. A pattern
// too large for an automaton sees only the head of the line.
func (s *scanner) longLine(ctx context.Context, r io.Reader, line int) (filled int, err error) {
	head := bytes.Clone(s.buf)
	judge := newLineJudge(s.engine)
	judge.add(head)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := fill(r, s.buf)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		piece := s.buf[:n]
		content, rest, ended := bytes.Cut(piece, newline)
		judge.add(content)
		if !ended && err == nil {
			continue
		}
		if judge.end(ended) {
			if err := s.match(line, head, true); err != nil {
				return 0, err
			}
		}
		return copy(s.buf, rest), nil
	}
}

// A lineJudge matches one line that arrives in pieces.
type lineJudge struct {
	engine *engine
	state  uint32
	held   []byte // the start of a rune, or a CR, that the next piece completes
}

func newLineJudge(e *engine) *lineJudge {
	j := &lineJudge{engine: e}
	if e.dfa != nil {
		j.state = e.dfa.start
	}
	return j
}

func (j *lineJudge) add(piece []byte) {
	dfa := j.engine.dfa
	switch {
	case dfa == nil && j.state == 0:
		j.state = stateDead
		if j.engine.judge(piece) {
			j.state = stateMatch
		}
	case dfa != nil && len(piece) > 0:
		// Line ends are out of the way by now: a CR held back is content
		// when anything follows.
		text := piece
		if len(j.held) > 0 {
			text = append(j.held, piece...)
		}
		keep := len(text)
		if text[keep-1] == '\r' {
			keep--
		}
		var rest int
		j.state, rest = dfa.feed(j.state, text[:keep])
		j.held = bytes.Clone(text[keep-rest:])
	}
}

// end closes the line; terminated says that a line feed ended it.
func (j *lineJudge) end(terminated bool) bool {
	dfa := j.engine.dfa
	if dfa == nil || j.state < firstState {
		return j.state == stateMatch
	}
	held := j.held
	if terminated {
		held = bytes.TrimSuffix(held, []byte{'\r'})
	}
	for len(held) > 0 && j.state >= firstState {
		var size int
		j.state, size = dfa.step(j.state, held)
		held = held[size:]
	}
	return j.state == stateMatch || j.state >= firstState && dfa.atEnd(j.state)
}

// newline is what ends a line, for the functions that want a slice. Read-only.
var newline = []byte{'\n'}

// fill reads until p is full or r ends.
func fill(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = r.Read(p[n:])
		n += k
	}
	return n, err
}

// isBinary judges the head of a file: a NUL, or a mark of UTF-16.
func isBinary(head []byte) bool {
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return true
	}
	return bytes.IndexByte(head[:min(len(head), binaryProbe)], 0) >= 0
}

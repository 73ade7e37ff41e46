package wire

import (
	"bytes"
	"errors"
	"io"
)

// The bounds of what a server may send in one step.
const (
	maxEvent  = 12 << 20
	maxAnswer = 64 << 20
)

// What Events.Next fails with besides the errors of the connection.
var (
	ErrTooLong = errors.New("the answer is too long")
	ErrWebPage = errors.New("the answer is a web page")
)

var bom = []byte("\uFEFF")

// Events cuts an answer into events. It takes more than the standard allows: a
// data line that is a whole object is an event by itself, blank line or not,
// and lines of bare JSON are data too. An answer that is not streamed at all
// thus comes out as one event.
type Events struct {
	r     io.Reader
	alive func() // called when the server says that it is busy
	buf   []byte
	// buf[pos:end] is read and not yet used; no line ends in buf[pos:scan].
	pos, scan, end int
	total          int
	first          bool // no line came yet
	skipLF         bool // the last line ended in CR
	err            error

	kind    string
	pending []byte // data that the next line continues
	bare    bool   // pending is bare JSON
}

// NewEvents reads the events of an answer. alive is called when the server says that it
// is busy; nil means that it is not.
func NewEvents(r io.Reader, alive func()) *Events {
	if alive == nil {
		alive = func() {}
	}
	return &Events{r: r, alive: alive, buf: make([]byte, 8<<10), first: true}
}

// Next returns the kind and the data of the next event; the data is good until
// the following call. The end of the answer is io.EOF, and so is a connection
// that closes properly in the middle of an event: an event cut short is
// returned as it is.
func (e *Events) Next() (kind string, data []byte, err error) {
	for {
		line, err := e.line()
		if err != nil {
			if errors.Is(err, io.EOF) && len(e.pending) > 0 {
				kind, data = e.finish(nil)
				return kind, data, nil
			}
			return "", nil, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			if len(e.pending) > 0 && !e.bare {
				kind, data = e.finish(nil)
				return kind, data, nil
			}
			continue
		}
		value, err := e.field(line)
		switch {
		case err != nil:
			return "", nil, err
		case len(value) == 0:
		case len(e.pending) == 0 && whole(value):
			kind, data = e.finish(value)
			return kind, data, nil
		case len(e.pending)+len(value) > maxEvent:
			return "", nil, ErrTooLong
		case len(e.pending) > 0 || value[0] == '{' || value[0] == '[':
			e.pending = append(append(e.pending, value...), '\n')
		}
	}
}

// finish returns data, or with nil what is pending, as an event, and starts the next one.
func (e *Events) finish(data []byte) (string, []byte) {
	kind := e.kind
	e.kind = ""
	if data == nil {
		data, e.pending, e.bare = e.pending, nil, false
	}
	return kind, data
}

// field returns the data that a line brings, which may be none.
func (e *Events) field(line []byte) ([]byte, error) {
	if e.first && line[0] == '<' {
		return nil, ErrWebPage
	}
	e.first = false
	if e.bare {
		return line, nil
	}
	if line[0] == '{' || line[0] == '[' {
		e.bare = len(e.pending) == 0 && !whole(line)
		return line, nil
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(name) {
	case "": // a comment
		e.alive()
	case "data":
		return value, nil
	case "error":
		e.kind = "error"
		return value, nil
	case "event":
		if e.kind = string(value); e.kind == "ping" {
			e.alive()
		}
	}
	return nil, nil
}

// whole reports whether line is an event by itself.
func whole(line []byte) bool {
	return line[0] == '{' && line[len(line)-1] == '}' || string(line) == "[DONE]"
}

// line returns the next line without its end, which is LF, CRLF or CR. A last
// line needs no end.
func (e *Events) line() ([]byte, error) {
	for {
		if e.skipLF && e.pos < e.end {
			e.skipLF = false
			if e.buf[e.pos] == '\n' {
				e.pos++
			}
			e.scan = max(e.scan, e.pos)
		}
		if i := endOfLine(e.buf[e.scan:e.end]); i >= 0 {
			at := e.scan + i
			line := e.buf[e.pos:at]
			e.skipLF = e.buf[at] == '\r'
			e.pos, e.scan = at+1, at+1
			return e.withoutBOM(line), nil
		}
		e.scan = e.end
		if e.err != nil {
			line := e.buf[e.pos:e.end]
			e.pos = e.end
			if errors.Is(e.err, io.EOF) && len(line) > 0 {
				return e.withoutBOM(line), nil
			}
			return nil, e.err
		}
		e.fill()
	}
}

func (e *Events) withoutBOM(line []byte) []byte {
	if e.first {
		return bytes.TrimPrefix(line, bom)
	}
	return line
}

func endOfLine(text []byte) int {
	lf := bytes.IndexByte(text, '\n')
	if lf < 0 {
		return bytes.IndexByte(text, '\r')
	}
	if cr := bytes.IndexByte(text[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// fill reads once, after it made room.
func (e *Events) fill() {
	switch {
	case e.pos == e.end:
		e.pos, e.scan, e.end = 0, 0, 0
	case e.end == len(e.buf) && e.pos > 0:
		e.end = copy(e.buf, e.buf[e.pos:e.end])
		e.scan -= e.pos
		e.pos = 0
	case e.end == len(e.buf):
		if len(e.buf) >= maxEvent {
			e.err = ErrTooLong
			return
		}
		// The old buffers of a very long line are garbage that is not yet
		// collected: few steps keep the memory for it small.
		factor := 2
		if len(e.buf) >= 1<<20 {
			factor = 4
		}
		grown := make([]byte, min(factor*len(e.buf), maxEvent))
		copy(grown, e.buf)
		e.buf = grown
	}
	n, err := e.r.Read(e.buf[e.end:])
	e.end += n
	e.total += n
	e.err = err
	if e.total > maxAnswer {
		e.err = ErrTooLong
	}
}

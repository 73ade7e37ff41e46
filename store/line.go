package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash/crc32"
	"strconv"

	"acp-agent/internal/jsonscan"
)

// line is one line of a session's file. doc.go describes its form.
type line struct {
	kind string // sessionKind, messageKind or partKind
	seq  int64
	at   int64  // milliseconds since 1970
	sub  string // the subagent to whose conversation it belongs; "" for the session itself
	of   string // the message
	role string // of the message, unless it is the assistant's
	n    int    // which part of the message
	op   string // what the line does; "" replaces the earlier line
	data []byte // JSON
}

// The shapes of R135.
const (
	sessionKind = "session"
	messageKind = "message"
	partKind    = "part"
)

// The ops of lines.
const (
	opState  = "state"  // session: one value of the session's state, named by "of"
	opMemory = "memory" // session: what the tools remember
	opChild  = "child"  // session: the record of the subagent "sub"
	opDrop   = "drop"   // message: a step that was withdrawn
	opHide   = "hide"   // message: it and all that is visible after it are hidden
	opShow   = "show"   // message: what its opHide hid is visible again
	opCall   = "call"   // part: the state of a tool call
	opEnd    = "end"    // part: a tool call as it ended, without its input
	opGrow   = "grow"   // part, in the live file: more of a text
)

// A line ends with sumMark, eight hexadecimal digits and sumTail.
const (
	sumMark = `,"sum":"`
	sumTail = `"}`
	sumLen  = len(sumMark) + 8 + len(sumTail)
)

// maxLine bounds a line, in bytes.
const maxLine = 64 << 20

// maxParts bounds the gap between the number of a part and the numbers before it.
const maxParts = 4096

// appendSum appends the checksum of data, in hexadecimal.
func appendSum(b, data []byte) []byte {
	sum := crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli))
	return hex.AppendEncode(b, binary.BigEndian.AppendUint32(nil, sum))
}

// append appends the line, with its line break, to b.
func (l *line) append(b []byte) []byte {
	from := len(b)
	b = append(b, `{"type":"`...)
	b = append(b, l.kind...)
	b = append(b, `","seq":`...)
	b = strconv.AppendInt(b, l.seq, 10)
	b = append(b, `,"at":`...)
	b = strconv.AppendInt(b, l.at, 10)
	b = appendField(b, "sub", l.sub)
	b = appendField(b, "of", l.of)
	b = appendField(b, "role", l.role)
	if l.kind == partKind {
		b = append(b, `,"n":`...)
		b = strconv.AppendInt(b, int64(l.n), 10)
	}
	b = appendField(b, "op", l.op)
	b = append(b, `,"data":`...)
	b = append(b, l.data...)
	end := len(b)
	b = append(b, sumMark...)
	b = appendSum(b, b[from:end])
	return append(b, sumTail+"\n"...)
}

func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	quoted, err := encode(value)
	if err != nil { // a string always has a form
		return append(b, `""`...)
	}
	return append(b, quoted...)
}

var (
	errNoLine = errors.New("it is not a record")
	errSum    = errors.New("its checksum does not match")
)

// parse parses a line without its line break. Its data is a part of text.
func parse(text []byte) (l line, err error) {
	at := len(text) - sumLen
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(sumMark)) || !bytes.HasSuffix(text, []byte(sumTail)) {
		return l, errNoLine
	}
	var sum [8]byte
	if !bytes.Equal(text[at+len(sumMark):at+len(sumMark)+8], appendSum(sum[:0], text[:at])) {
		return l, errSum
	}
	c := cursor{text: text[:at]}
	l.kind = c.kind()
	c.number(`,"seq":`, &l.seq)
	c.number(`,"at":`, &l.at)
	c.word(`,"sub":`, &l.sub)
	c.word(`,"of":`, &l.of)
	c.word(`,"role":`, &l.role)
	if l.kind == partKind {
		var n int64
		c.number(`,"n":`, &n)
		if n < 0 || n > 1<<30 {
			return l, errNoLine
		}
		l.n = int(n)
	}
	c.word(`,"op":`, &l.op)
	c.expect(`,"data":`)
	if l.data = c.text; c.bad || len(l.data) == 0 {
		return l, errNoLine
	}
	return l, nil
}

// cursor reads the beginning of a line, whose form is fixed: the checksum proves that this program wrote
// it.
type cursor struct {
	text []byte
	bad  bool
}

func (c *cursor) skip(s string) bool {
	rest, ok := bytes.CutPrefix(c.text, []byte(s))
	c.text = rest
	return ok
}

func (c *cursor) expect(s string) { c.bad = !c.skip(s) || c.bad }

func (c *cursor) kind() string {
	c.expect(`{"type":"`)
	for _, kind := range []string{partKind, messageKind, sessionKind} {
		if c.skip(kind + `"`) {
			return kind
		}
	}
	c.bad = true
	return ""
}

func (c *cursor) number(name string, into *int64) {
	c.expect(name)
	end := bytes.IndexFunc(c.text, func(r rune) bool { return r != '-' && (r < '0' || r > '9') })
	if end <= 0 {
		c.bad = true
		return
	}
	n, err := strconv.ParseInt(string(c.text[:end]), 10, 64)
	*into, c.text, c.bad = n, c.text[end:], c.bad || err != nil
}

// word reads a string that may be missing.
func (c *cursor) word(name string, into *string) {
	if !c.skip(name) {
		return
	}
	end := jsonscan.StringEnd(c.text)
	if end < 0 {
		c.bad = true
		return
	}
	quoted := c.text[:end]
	c.text = c.text[end:]
	if bytes.IndexByte(quoted, '\\') < 0 {
		*into = string(quoted[1 : len(quoted)-1])
		return
	}
	c.bad = json.Unmarshal(quoted, into) != nil || c.bad
}

// encode is json.Marshal that leaves <, > and & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

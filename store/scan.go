package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Damage says what could not be read of a session's record.
type Damage struct {
	// Lines counts the damaged lines, and Offsets are the places of the first of them, in bytes.
	Lines   int
	Offsets []int64
	// Missing counts the lines of which nothing is left, which the numbers of the others show.
	Missing int64
	// Torn is the size, in bytes, of an incomplete line at the end, which a killed process was
	// writing. It was never acknowledged, so it is no loss.
	Torn int64
}

// maxOffsets bounds Damage.Offsets.
const maxOffsets = 100

// None reports whether everything that was acknowledged could be read.
func (d Damage) None() bool { return d.Lines == 0 && d.Missing == 0 }

// String describes the damage for the user; "" when there is none.
func (d Damage) String() string {
	if d.None() {
		return ""
	}
	text := fmt.Sprintf("%d damaged and %d missing records", d.Lines, d.Missing)
	if len(d.Offsets) > 0 {
		text += fmt.Sprintf(", the first at byte %d", d.Offsets[0])
	}
	return text
}

func (d *Damage) add(offset int64) {
	d.Lines++
	if len(d.Offsets) < maxOffsets && !slices.Contains(d.Offsets, offset) {
		d.Offsets = append(d.Offsets, offset)
	}
}

// scanChunk is how much of a file is read at once, after firstChunk: most files are small, and
// a large buffer costs more than such a file.
const (
	firstChunk = 16 << 10
	scanChunk  = 256 << 10
)

// scanned is one line of a file.
type scanned struct {
	at, end int64  // the offsets of the line and of the next one
	text    []byte // without its line break; nil if it is longer than maxLine
	ended   bool   // the line has a line break
}

// scan calls f with every line of r, whose text is valid until f returns.
func scan(r io.Reader, f func(scanned)) error {
	s := scanner{f: f, buf: make([]byte, 0, firstChunk)}
	for {
		s.makeRoom()
		searched := len(s.buf)
		n, err := r.Read(s.buf[searched:cap(s.buf)])
		s.buf = s.buf[:searched+n]
		s.lines(searched)
		if errors.Is(err, io.EOF) {
			s.rest()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// scanner has the bytes that a scan has read but not passed on.
type scanner struct {
	f       func(scanned)
	buf     []byte
	at      int64 // the offset of buf
	tooLong bool  // buf continues a line that is too long, which began at start
	start   int64
}

// makeRoom makes room for more of a line, or drops a line that is too long.
func (s *scanner) makeRoom() {
	switch {
	case s.at+int64(len(s.buf)) > firstChunk && cap(s.buf) < scanChunk:
		s.buf = append(make([]byte, 0, scanChunk), s.buf...)
	case len(s.buf) < cap(s.buf):
	case len(s.buf) < maxLine:
		s.buf = slices.Grow(s.buf, len(s.buf))
	default:
		if !s.tooLong {
			s.tooLong, s.start = true, s.at
		}
		s.at += int64(len(s.buf))
		s.buf = s.buf[:0]
	}
}

// lines passes on the complete lines. There is no line break before searched.
func (s *scanner) lines(searched int) {
	from := 0
	for {
		end := bytes.IndexByte(s.buf[searched:], '\n')
		if end < 0 {
			break
		}
		end += searched
		if s.tooLong {
			s.f(scanned{at: s.start, end: s.at + int64(end) + 1, ended: true})
			s.tooLong = false
		} else {
			s.f(scanned{at: s.at + int64(from), end: s.at + int64(end) + 1, text: short(s.buf[from:end]), ended: true})
		}
		from, searched = end+1, end+1
	}
	s.at += int64(from)
	s.buf = s.buf[:copy(s.buf, s.buf[from:])]
}

// rest passes on an incomplete line at the end.
func (s *scanner) rest() {
	switch {
	case s.tooLong:
		s.f(scanned{at: s.start, end: s.at + int64(len(s.buf))})
	case len(s.buf) > 0:
		s.f(scanned{at: s.at, end: s.at + int64(len(s.buf)), text: short(s.buf)})
	}
}

// short returns text; nil when it is too long for a line.
func short(text []byte) []byte {
	if len(text) > maxLine {
		return nil
	}
	return text
}

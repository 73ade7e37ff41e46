package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Damage is what could not be read of a session's file.
type Damage struct {
	// Lines counts damaged lines, and Offsets says where the first of them begin, in bytes.
	Lines   int
	Offsets []int64
	// Missing counts records of which nothing is left, told by their numbers.
	Missing int64
	// Torn is the size, in bytes, of an unfinished line at the end: what a killed process was
	// writing. It is no loss of anything that was acknowledged.
	Torn int64
}

// maxOffsets bounds Damage.Offsets.
const maxOffsets = 100

// None reports that everything that was acknowledged could be read.
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

// scanChunk is how much of a file is read at once.
const scanChunk = 256 << 10

// scan calls f with every line of r and where it begins; the text is valid until f returns.
// A line longer than maxLine is given as nil. ended says that the line has its end.
func scan(r io.Reader, f func(at int64, text []byte, ended bool)) error {
	buf := make([]byte, 0, scanChunk)
	var at int64 // where buf begins
	tooLong := false
	var start int64 // where the line begins that is too long
	for {
		if len(buf) == cap(buf) {
			if len(buf) >= maxLine {
				if !tooLong {
					tooLong, start = true, at
				}
				at += int64(len(buf))
				buf = buf[:0]
			} else {
				buf = slices.Grow(buf, len(buf))
			}
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		searched := len(buf)
		buf = buf[:len(buf)+n]
		from := 0
		for {
			end := bytes.IndexByte(buf[searched:], '\n')
			if end < 0 {
				break
			}
			end += searched
			if tooLong {
				f(start, nil, true)
				tooLong = false
			} else {
				f(at+int64(from), buf[from:end], true)
			}
			from, searched = end+1, end+1
		}
		if from > 0 {
			at += int64(from)
			buf = buf[:copy(buf, buf[from:])]
		}
		if errors.Is(err, io.EOF) {
			switch {
			case tooLong:
				f(start, nil, false)
			case len(buf) > 0:
				f(at, buf, false)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

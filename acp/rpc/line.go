package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
)

// DefaultMaxLine is the longest line that is served, in bytes without the newline.
const DefaultMaxLine = 32 << 20

// errLineTooLong reports a line over the limit. It was read to its end and dropped; its
// outline tells whose it was.
var errLineTooLong = errors.New("line too long")

// lineReader cuts a byte stream into lines. A line over the limit is skipped, and no more
// than its outline is kept.
type lineReader struct {
	r     *bufio.Reader
	max   int
	first bool     // nothing read yet, so a byte order mark may follow
	long  *outline // of the last line that was too long
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), max: limit, first: true}
}

// next returns the next line without its newline. The slice is the caller's to keep.
// A last line without newline counts; after it the error is io.EOF.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	size := 0
	for {
		chunk, err := l.r.ReadSlice('\n')
		ended := err == nil
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		size += len(chunk)
		switch {
		case size <= l.max:
			line = appendChunk(line, chunk, l.max)
		case size-len(chunk) <= l.max:
			l.outline(line, chunk)
			line = nil
		default:
			l.long.write(chunk)
		}
		switch {
		case ended, errors.Is(err, io.EOF) && size > 0:
			if size > l.max {
				return nil, errLineTooLong
			}
			return l.withoutBOM(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// outline begins the outline of a line that turns out to be too long.
func (l *lineReader) outline(line, chunk []byte) {
	l.long = newOutline()
	if len(line) == 0 {
		line, chunk = chunk, nil
	}
	l.long.write(l.withoutBOM(line))
	l.long.write(chunk)
}

// appendChunk doubles the room where append would grow by a quarter: a line of many
// megabytes is copied a few times, not dozens.
func appendChunk(line, chunk []byte, limit int) []byte {
	if need := len(line) + len(chunk); need > cap(line) {
		line = slices.Grow(line, min(max(need, 2*cap(line)), limit)-len(line))
	}
	return append(line, chunk...)
}

// withoutBOM drops a byte order mark from the first line: some hosts write one, and
// there is nothing else it could mean.
func (l *lineReader) withoutBOM(line []byte) []byte {
	if l.first {
		l.first = false
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

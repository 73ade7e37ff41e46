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

// errLineTooLong reports a line over the limit. It was read to its end and dropped.
var errLineTooLong = errors.New("line too long")

// lineReader cuts a byte stream into lines. A line over the limit is skipped without
// being kept.
type lineReader struct {
	r     *bufio.Reader
	max   int
	first bool // nothing read yet, so a byte order mark may follow
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
		if size <= l.max {
			line = appendChunk(line, chunk, l.max)
		} else {
			line = nil
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

package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

const (
	// firstBytes is what is read first: most files are no larger, and many may be
	// read at once.
	firstBytes = 8 << 10
	chunkBytes = 64 << 10
	// maxSkip is how far the end of a line is looked for before the window ends
	// in that line: a file of one endless line must not be read to its end.
	maxSkip = 4 << 20
)

// window is a run of lines taken from a stream, numbered.
type window struct {
	// from and to are the lines asked for, 1-based, inclusive.
	from, to int
	// maxBytes bounds their content, line terminators included.
	maxBytes int

	text strings.Builder
	// next is the number of the line after those read so far.
	next int
	// more says that lines follow the window.
	more bool
	// long counts lines that were cut; endless says that the last one's end
	// was not found within maxSkip.
	long    int
	endless bool

	bytes int
	line  []byte // the current line's first maxLineBytes+1 bytes
	size  int    // the current line's length so far
}

// errTooLarge says that a window holds more than maxBytes.
var errTooLarge = errors.New("window too large")

// scan reads lines from r, whose first line has the number first. It holds one
// chunk and the window, whatever the file's size, and stops after the window.
func (w *window) scan(ctx context.Context, r io.Reader, first int) error {
	w.next = first
	chunk := make([]byte, firstBytes)
	for !w.more && !w.endless {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(chunk)
		if scanErr := w.feed(chunk[:n]); scanErr != nil {
			return scanErr
		}
		if errors.Is(err, io.EOF) {
			return w.finish()
		}
		if err != nil {
			return err
		}
		if n == firstBytes && len(chunk) == firstBytes {
			chunk = make([]byte, chunkBytes)
		}
	}
	return w.finish()
}

func (w *window) feed(chunk []byte) error {
	chunk = w.skip(chunk)
	for len(chunk) > 0 {
		if w.next > w.to {
			w.more = true
			return nil
		}
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			w.grow(chunk)
			return nil
		}
		w.grow(chunk[:end])
		if err := w.endLine(1); err != nil {
			return err
		}
		chunk = chunk[end+1:]
	}
	return nil
}

// skip passes over the lines before the window. A line is counted once its
// terminator was seen; size remembers that one has started.
func (w *window) skip(chunk []byte) []byte {
	if w.next >= w.from {
		return chunk
	}
	if count := bytes.Count(chunk, []byte{'\n'}); w.next+count < w.from {
		w.next += count
		if last := bytes.LastIndexByte(chunk, '\n'); last >= 0 {
			w.size = 0
			chunk = chunk[last+1:]
		}
		w.size += len(chunk)
		return nil
	}
	for w.next < w.from {
		chunk = chunk[bytes.IndexByte(chunk, '\n')+1:]
		w.next++
	}
	w.size = 0
	return chunk
}

func (w *window) grow(part []byte) {
	w.size += len(part)
	if room := maxLineBytes + 1 - len(w.line); room > 0 {
		w.line = append(w.line, part[:min(room, len(part))]...)
	}
	w.endless = w.size > maxSkip
}

// endLine adds the current line to the text; terminator is the length of its
// line feed, 0 at the end of the file.
func (w *window) endLine(terminator int) error {
	if terminator > 0 && w.size == len(w.line) && bytes.HasSuffix(w.line, []byte{'\r'}) {
		w.line = w.line[:len(w.line)-1]
		w.size--
		terminator++
	}
	if w.next == 1 {
		w.line = bytes.TrimPrefix(w.line, []byte("\ufeff"))
	}
	if w.text.Len() > 0 {
		w.text.WriteByte('\n')
	}
	shown := textcut.First(w.line, maxLineBytes)
	w.text.WriteString(strconv.Itoa(w.next))
	w.text.WriteString(": ")
	if utf8.Valid(shown) {
		w.text.Write(shown)
	} else {
		w.text.WriteString(strings.ToValidUTF8(string(shown), "\ufffd"))
	}
	if w.size > maxLineBytes {
		w.long++
		fmt.Fprintf(&w.text, "... [line cut at %d bytes]", maxLineBytes)
	}
	if w.bytes += len(shown) + terminator; w.bytes > w.maxBytes {
		return errTooLarge
	}
	w.next, w.line, w.size = w.next+1, w.line[:0], 0
	return nil
}

// finish adds a last line that has no terminator.
func (w *window) finish() error {
	if w.more || w.size == 0 {
		return nil
	}
	if w.next < w.from {
		w.next++ // counted, not shown
		return nil
	}
	return w.endLine(0)
}

// note tells the model what the window leaves out; "" when it is the whole.
func (w *window) note() string {
	var notes []string
	switch last := w.next - 1; {
	case w.endless:
		notes = append(notes, fmt.Sprintf("[line %d goes on; continue with byte_range]", last))
	case w.more:
		notes = append(notes, fmt.Sprintf("[more lines follow; continue with read_range [%d, %d]]", w.next, w.next+w.to-w.from))
	case w.text.Len() == 0 && last == 0:
		notes = append(notes, "[the file is empty]")
	case w.text.Len() == 0:
		notes = append(notes, fmt.Sprintf("[the file ends at line %d, before the range asked for]", last))
	}
	if w.long > 0 {
		notes = append(notes, fmt.Sprintf("[%d long lines were cut; byte_range shows the rest]", w.long))
	}
	return strings.Join(notes, "\n")
}

// tooLarge is the error of a window over the limit (R26).
func tooLarge(path string, limit int) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path,
		Message: fmt.Sprintf("File content exceeds maximum allowed size (%d bytes)", limit),
		Hint:    "Read less at a time: give a smaller read_range or byte_range, or find the place with grep.",
	}
}

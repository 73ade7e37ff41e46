package run

import (
	"regexp"
	"sync"
	"unicode/utf8"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// jobOutput is the output of a job. Its end is in memory; its beginning is in a file, which is made when
// the output no longer fits in memory. Writing to it never fails. It is safe for concurrent use.
type jobOutput struct {
	memoryLimit int   // bytes of the end that are kept
	fileLimit   int64 // bytes of the beginning that the file holds; 0 makes no file
	open        func() (tools.Sidecar, error)

	mu       sync.Mutex    // guards what follows
	end      []byte        // the last of total bytes
	total    int64         // bytes that were printed
	read     int64         // of total, how many have been read
	grown    chan struct{} // closed by the next write; nil when nothing waits for that
	file     tools.Sidecar // nil before it is made
	fileDone bool          // nothing more is written to the file, or it could not be made
	kept     int64         // bytes in the file
	closed   bool
}

// jobSlack is how much more than memoryLimit the memory may hold, so that not every write moves the
// rest.
const jobSlack = 64 << 10

// Write implements io.Writer.
func (o *jobOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return len(p), nil
	}
	o.spill(p)
	o.total += int64(len(p))
	o.end = append(o.end, p...)
	if len(o.end) > o.memoryLimit+jobSlack {
		o.end = append(o.end[:0], o.end[len(o.end)-o.memoryLimit:]...)
	}
	o.wake()
	return len(p), nil
}

// spill writes p to the file. The first p that does not fit in memory makes the file, which begins with what memory
// holds. The caller holds mu.
func (o *jobOutput) spill(p []byte) {
	if o.file == nil && !o.fileDone && o.fileLimit > 0 && len(o.end)+len(p) > o.memoryLimit {
		var err error
		if o.file, err = o.open(); err != nil {
			o.file, o.fileDone = nil, true
		} else {
			o.writeFile(o.end)
		}
	}
	if o.file != nil {
		o.writeFile(p)
	}
}

// writeFile writes to the file what fits. The caller holds mu.
func (o *jobOutput) writeFile(p []byte) {
	p = p[:min(int64(len(p)), o.fileLimit-o.kept)]
	if len(p) == 0 || o.fileDone {
		return
	}
	_, err := o.file.Write(p)
	o.kept += int64(len(p))
	if dropped := o.file.Dropped(); err != nil || dropped > 0 { // the session's quota is used up
		o.kept, o.fileDone = o.kept-dropped, true
	}
}

// wake wakes the readers that wait for more. The caller holds mu.
func (o *jobOutput) wake() {
	if o.grown != nil {
		close(o.grown)
		o.grown = nil
	}
}

// more returns a channel that is closed when more has been written, or the output has ended.
func (o *jobOutput) more() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.grown == nil {
		o.grown = make(chan struct{})
	}
	more := o.grown
	if o.closed {
		o.wake()
	}
	return more
}

// close ends the output: what is written later is dropped.
func (o *jobOutput) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake()
	if o.file != nil {
		_ = o.file.Close() // an error does not change kept
	}
}

// unread returns what memory holds that has not been read, from the start of a character; skipped counts the
// bytes before it that are no longer in memory. The caller holds mu.
func (o *jobOutput) unread() (text []byte, skipped int64) {
	from := o.total - int64(len(o.end))
	if o.read < from {
		skipped = from - o.read
		return o.end[leading(o.end):], skipped + int64(leading(o.end))
	}
	return o.end[o.read-from:], 0
}

// leading counts the bytes at the start of a text that are the rest of a character.
func leading(text []byte) int {
	n := 0
	for n < len(text) && n < utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

// progress returns how many bytes were printed, and how many of them have been read.
func (o *jobOutput) progress() (total, read int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total, o.read
}

// matches reports whether an unread line matches a pattern.
func (o *jobOutput) matches(pattern *regexp.Regexp) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, _ := o.unread()
	return matchesLine(pattern, text)
}

// matchesLine matches each line by itself, so that "^" and "$" are its ends.
func matchesLine(pattern *regexp.Regexp, text []byte) bool {
	for len(text) > 0 {
		line, rest := text, []byte(nil)
		for i, c := range text {
			if c == '\n' || c == '\r' {
				line, rest = text[:i], text[i+1:]
				break
			}
		}
		if pattern.Match(line) {
			return true
		}
		text = rest
	}
	return false
}

// readNew returns what has not been read, and marks it as read. The text ends with a whole character, unless the output has
// ended.
func (o *jobOutput) readNew() (out tools.JobOutput) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, skipped := o.unread()
	left := 0
	if !o.closed {
		whole := textcut.Whole(text)
		left = len(text) - len(whole)
		text = whole
	}
	out.Text, out.Skipped = string(text), skipped
	o.read = o.total - int64(left)
	if o.file != nil {
		out.File, out.Kept = o.file.Path(), o.kept
	}
	return out
}

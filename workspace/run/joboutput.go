package run

import (
	"regexp"
	"sync"
	"unicode/utf8"

	"acp-agent/internal/textcut"
	"acp-agent/tools"
)

// jobOutput is what a job has printed: its end in memory, its beginning in a file once there is
// more than that. Writing to it never fails. It is safe for concurrent use.
type jobOutput struct {
	memory int   // bytes of the end that are kept
	most   int64 // bytes of the beginning that the file holds
	open   func() (tools.Sidecar, error)

	mu      sync.Mutex
	end     []byte // the last of total bytes
	total   int64
	read    int64         // how far it was read
	changed chan struct{} // closed by the next write when someone waits for it
	file    tools.Sidecar
	failed  bool // there is no file, and there will be none
	kept    int64
	closed  bool
}

// jobSlack is how much the memory may hold beyond its bound, so that it is moved only now and
// then.
const jobSlack = 64 << 10

// Write implements io.Writer.
func (o *jobOutput) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return len(p), nil
	}
	o.keep(p)
	o.total += int64(len(p))
	o.end = append(o.end, p...)
	if len(o.end) > o.memory+jobSlack {
		o.end = append(o.end[:0], o.end[len(o.end)-o.memory:]...)
	}
	o.wake()
	return len(p), nil
}

// keep writes to the file, which begins with what is in memory. The caller holds mu.
func (o *jobOutput) keep(p []byte) {
	if o.file == nil && !o.failed && o.most > 0 && len(o.end)+len(p) > o.memory {
		var err error
		if o.file, err = o.open(); err != nil {
			o.file, o.failed = nil, true
		} else {
			o.store(o.end)
		}
	}
	if o.file != nil {
		o.store(p)
	}
}

func (o *jobOutput) store(p []byte) {
	p = p[:min(int64(len(p)), o.most-o.kept)]
	if len(p) == 0 || o.failed {
		return
	}
	_, err := o.file.Write(p)
	o.kept += int64(len(p))
	if dropped := o.file.Dropped(); err != nil || dropped > 0 { // the session's quota is used up
		o.kept, o.failed = o.kept-dropped, true
	}
}

// wake wakes the readers that wait for more. The caller holds mu.
func (o *jobOutput) wake() {
	if o.changed != nil {
		close(o.changed)
		o.changed = nil
	}
}

// next is closed when something more was written, or the output has ended.
func (o *jobOutput) next() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed == nil {
		o.changed = make(chan struct{})
	}
	next := o.changed
	if o.closed {
		o.wake()
	}
	return next
}

// close ends the output: what is written later is dropped.
func (o *jobOutput) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake()
	if o.file != nil {
		_ = o.file.Close() // what it holds is counted
	}
}

// unread is the part in memory that was not read yet. The caller holds mu.
func (o *jobOutput) unread() (text []byte, skipped int64) {
	from := o.total - int64(len(o.end))
	if o.read < from {
		skipped = from - o.read
		return o.end[leading(o.end):], skipped + int64(leading(o.end))
	}
	return o.end[o.read-from:], 0
}

// leading counts the bytes at the start of a text that belong to a character that was cut.
func leading(text []byte) int {
	n := 0
	for n < len(text) && n < utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n++
	}
	return n
}

// progress returns how much was printed, and how much of it was read.
func (o *jobOutput) progress() (total, read int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total, o.read
}

// matches reports whether a line that was not read yet matches a pattern.
func (o *jobOutput) matches(pattern *regexp.Regexp) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, _ := o.unread()
	return matchesLine(pattern, text)
}

// matchesLine looks at each line by itself, so that "^" and "$" are its ends.
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

// take reads what was not read yet, in whole characters unless the output has ended.
func (o *jobOutput) take() (out tools.JobOutput) {
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

package acptest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Line is one line of a run.
type Line struct {
	// FromAgent says which way it went.
	FromAgent bool
	At        time.Time
	Raw       string // without the newline
	// Message is nil when the line is none.
	Message *Message
}

// record keeps the lines of a run, in the order in which the client sees them:
// what it sends is recorded before it is written.
type record struct {
	mu    sync.Mutex
	lines []Line
	more  chan struct{} // closed at the next line
	ended bool          // the agent's output has ended
}

func newRecord() *record { return &record{more: make(chan struct{})} }

func (r *record) add(l Line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, l)
	close(r.more)
	r.more = make(chan struct{})
}

func (r *record) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	close(r.more)
	r.more = make(chan struct{})
}

// from returns the lines from the n-th on, what is closed when there are more,
// and whether there can be more.
func (r *record) from(n int) (lines []Line, more <-chan struct{}, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines[min(n, len(r.lines)):], r.more, r.ended
}

// errGaveUp is that the line that was waited for has not come, though the agent lives.
var errGaveUp = errors.New("gave up")

// wait returns the first of the agent's messages from the n-th line on that
// fits, and the number of the line after it. It waits while lines come, for a slow machine
// is not a fault, and gives up after patience without one, or ten times that in all.
func (r *record) wait(patience time.Duration, n int, fits func(*Message) bool) (*Message, int, error) {
	silent := time.NewTimer(patience)
	defer silent.Stop()
	for start := time.Now(); ; silent.Reset(patience) {
		lines, more, ended := r.from(n)
		for i, l := range lines {
			if l.FromAgent && l.Message != nil && fits(l.Message) {
				return l.Message, n + i + 1, nil
			}
		}
		n += len(lines)
		if ended { // after these lines, and nothing wakes us any more
			return nil, n, fmt.Errorf("the agent's output ended")
		}
		select {
		case <-more:
		case <-silent.C:
			return nil, n, fmt.Errorf("%w after %s without a line", errGaveUp, patience)
		}
		if over := time.Since(start); over > 10*patience {
			return nil, n, fmt.Errorf("%w after %s of other lines", errGaveUp, over.Round(time.Second))
		}
	}
}

// tail is the end of the record, for messages of failing tests.
func (r *record) tail(n int) string {
	lines, _, _ := r.from(0)
	if over := len(lines) - n; over > 0 {
		lines = lines[over:]
	}
	var b strings.Builder
	for _, l := range lines {
		arrow := "->"
		if l.FromAgent {
			arrow = "<-"
		}
		fmt.Fprintf(&b, "%s %s %.1000s\n", l.At.Format("05.000"), arrow, l.Raw)
	}
	return b.String()
}

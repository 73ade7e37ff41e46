package loop

import (
	"fmt"
	"sync"
	"time"

	"acp-agent/transcript"
)

// defaultNoticeAfter is the default of Options.NoticeAfter.
const defaultNoticeAfter = 30 * time.Second

// waiting notifies the user while the model sends nothing: after a while, and again each time the wait
// has doubled. The time that the sink takes for a chunk is not part of the wait.
//
// Goroutines: that of a timer, which stop ends.
type waiting struct {
	emit  func(transcript.Event)
	after time.Duration

	mu    sync.Mutex    // guards what follows
	timer *time.Timer   // nil after stop
	since time.Time     // when the wait began; zero while a chunk is passed on
	next  time.Duration // the wait after which the user is notified next
	limit time.Duration // how long the server may be silent before the request fails; 0 is not known
}

// await starts to wait for the model.
func (l *Loop) await() *waiting {
	w := &waiting{emit: l.emit, after: l.NoticeAfter, next: l.NoticeAfter, since: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.after, w.tick)
	return w
}

// tick notifies the user if it is time, and sets the timer again.
func (w *waiting) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return
	}
	if w.since.IsZero() {
		w.timer.Reset(w.after)
		return
	}
	waited := time.Since(w.since)
	if waited >= w.next {
		start := time.Now()
		w.emit(transcript.Notice{
			Severity: transcript.Warning, Title: "Waiting", // else many clients do not show it
			Text: fmt.Sprintf("Still waiting for the model: nothing of its answer has come for %s.%s", w.next, w.end()),
		})
		w.since = w.since.Add(time.Since(start))
		w.next *= 2
	}
	w.timer.Reset(w.next - waited)
}

// end is the sentence of a notice about when the request fails; "" when that is not known.
func (w *waiting) end() string {
	if w.limit == 0 {
		return ""
	}
	return fmt.Sprintf(" The request is given up when the server is silent for %s.", w.limit)
}

// patience notes how long the server may be silent; see model.Request.
func (w *waiting) patience(limit time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit = limit
}

// received notes that the model has sent something, which pass passes on.
func (w *waiting) received(pass func()) {
	w.set(time.Time{})
	pass()
	w.set(time.Now())
}

func (w *waiting) set(since time.Time) {
	w.mu.Lock()
	w.since, w.next = since, w.after
	w.mu.Unlock()
}

// stop ends the wait. No notice follows.
func (w *waiting) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

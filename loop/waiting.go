package loop

import (
	"fmt"
	"sync"
	"time"

	"acp-agent/transcript"
)

// defaultNoticeAfter is how long a model may bring nothing before the user is told.
const defaultNoticeAfter = 30 * time.Second

// waiting tells the user that a model call brings nothing: after a while, and then each
// time the wait has become twice as long. The time that the sink takes is not the model's.
//
// Goroutines: a timer's, which stop ends.
type waiting struct {
	emit  func(transcript.Event)
	after time.Duration

	mu    sync.Mutex
	timer *time.Timer
	since time.Time     // when the wait began; zero while the model is not waited for
	next  time.Duration // the wait after which the user is told
	limit time.Duration // the silence after which the request is given up; 0 is not known
}

// await begins to wait for the model.
func (l *Loop) await() *waiting {
	w := &waiting{emit: l.emit, after: l.NoticeAfter, next: l.NoticeAfter, since: time.Now()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.after, w.tick)
	return w
}

// tick tells the user, if it is time, and sets the timer again.
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

// end says when the wait ends by itself.
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

// came notes that the model brought something, which is passed on by then.
func (w *waiting) came(pass func()) {
	w.set(time.Time{})
	pass()
	w.set(time.Now())
}

func (w *waiting) set(since time.Time) {
	w.mu.Lock()
	w.since, w.next = since, w.after
	w.mu.Unlock()
}

// stop ends the wait. The user is told nothing more of it.
func (w *waiting) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

package loop

import (
	"fmt"
	"sync"
	"time"

	"acp-agent/internal/record"
	"acp-agent/transcript"
)

// defaultNoticeAfter is the default of Options.NoticeAfter.
const defaultNoticeAfter = 30 * time.Second

// waiting notifies the user while the model sends nothing: after a while, and again each time the wait
// has doubled. The time that the sink takes for a chunk is not part of the wait.
//
// A replay has no wait of its own: it notifies the user where the recording has that, and between the same chunks.
//
// Goroutines: that of a timer, which stop ends; in a replay one that notifies the user before the next chunk, which waits
// for it, as stop does.
type waiting struct {
	emit  func(transcript.Event)
	tape  *record.Tape
	step  string // the id of its message
	after time.Duration

	mu    sync.Mutex    // guards what follows
	over  bool          // stop was called
	timer *time.Timer   // nil in a replay
	since time.Time     // when the wait began; zero while a chunk is passed on
	next  time.Duration // the wait after which the user is notified next
	limit time.Duration // how long the server may be silent before the request fails; 0 is not known

	chunks   int            // that were received
	recorded []silence      // in a replay: the notices that are still to come
	playing  sync.WaitGroup // notices that come before the next chunk
}

// waitingLook is the name of the look at how long the model has sent nothing.
const waitingLook = "waiting for the model"

// silence is a notice in a recording.
type silence struct {
	Text   string
	Chunks int // that came before it
}

// await starts to wait for the model in a step.
func (l *Loop) await(step string) *waiting {
	w := &waiting{emit: l.emit, tape: l.Tape, step: step, after: l.NoticeAfter, next: l.NoticeAfter, since: time.Now()}
	if l.Tape.Plays() {
		w.recorded = record.Seen[silence](l.Tape, waitingLook, step)
		w.play()
		return w
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(w.after, w.tick)
	return w
}

// tick notifies the user if it is time, and sets the timer again.
func (w *waiting) tick() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	if w.since.IsZero() {
		w.timer.Reset(w.after)
		return
	}
	waited := time.Since(w.since)
	if waited >= w.next {
		start := time.Now()
		w.notice(record.Look(w.tape, waitingLook, w.step, func() silence {
			return silence{fmt.Sprintf("Still waiting for the model: nothing of its answer has come for %s.%s", w.next, w.end()), w.chunks}
		}))
		w.since = w.since.Add(time.Since(start))
		w.next *= 2
	}
	w.timer.Reset(w.next - waited)
}

func (w *waiting) notice(s silence) {
	w.emit(transcript.Notice{Severity: transcript.Warning, Title: "Waiting", Text: s.Text}) // else many clients do not show it
}

// play notifies the user as recorded, before the next chunk.
func (w *waiting) play() {
	due := 0
	for due < len(w.recorded) && w.recorded[due].Chunks <= w.chunks {
		due++
	}
	if due == 0 {
		return
	}
	w.recorded = w.recorded[due:]
	w.playing.Go(func() {
		for range due {
			w.notice(record.Look(w.tape, waitingLook, w.step, func() (s silence) { return s }))
		}
	})
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
	w.playing.Wait()
	w.set(time.Time{})
	pass()
	w.set(time.Now())
	w.play()
}

func (w *waiting) set(since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since, w.next = since, w.after; !since.IsZero() {
		w.chunks++
	}
}

// stop ends the wait. No notice follows.
func (w *waiting) stop() {
	w.playing.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

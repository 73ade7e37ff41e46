package loop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"acp-agent/internal/pause"
	"acp-agent/internal/record"
	"acp-agent/model"
	"acp-agent/transcript"
)

// Bounds of the repeats of a failing model call.
const (
	// maxTries is how often a call is made at most when it fails.
	maxTries = 5
	// maxWaiting bounds the time spent waiting between those tries, all together.
	maxWaiting = time.Minute
	// maxBusy bounds the time spent waiting for a server that is busy, all together. Such
	// waits do not count as tries.
	maxBusy = 10 * time.Minute
	// firstWait is the wait before the second try; it grows and is jittered
	// from there, up to longestWait.
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// errEmpty is a model that answered with nothing, twice.
var errEmpty = &model.Error{
	Kind: model.Invalid, Message: "the model returned an empty answer twice",
	Hint: "send the prompt again, or choose another model",
}

// tries is what the calls of one step came to so far.
type tries struct {
	wait    *backoff.ExponentialBackOff
	tape    *record.Tape
	failed  int           // calls that failed while the server was not busy
	empties int           // calls that brought nothing
	waited  time.Duration // after calls that failed
	busy    time.Duration // while the server was busy
}

func newTries() *tries {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = firstWait, longestWait
	return &tries{wait: wait}
}

// ask makes one step, trying again what may pass (R140). Text that was shown stays as it is:
// after a stream that was cut in it the model is asked to go on.
func (l *Loop) ask(ctx context.Context) (*step, error) {
	tries := newTries()
	tries.tape = l.Tape
	for {
		s, err := l.stream(ctx)
		switch {
		case err == nil && !s.empty():
			return s, nil
		case err == nil:
			if tries.empties++; tries.empties > 1 {
				return nil, errEmpty
			}
			l.emit(transcript.StepDropped{MessageID: s.id})
			l.notice("The model returned an empty answer. Asking again.")
			continue
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		failure := model.AsError(err)
		// A server that fell silent within its answer used up the user's patience.
		if failure.Kind != model.Transient || s.said && failure.TimedOut {
			return nil, tries.gaveUp(failure)
		}
		wait, next, ok := tries.next(failure)
		if !ok {
			return nil, tries.gaveUp(failure)
		}
		l.notice(strings.TrimRight(failure.Message, ".") + ". " + next)
		if err := pause.For(ctx, wait); err != nil {
			return nil, err
		}
		if s.said {
			l.tell(goOnBroken)
		}
	}
}

// next counts a failure and returns how long to wait before the next try, the sentence
// that tells the user, and whether there is a next try at all.
func (t *tries) next(failure *model.Error) (wait time.Duration, next string, ok bool) {
	wait = record.Value(t.tape, "wait", "", t.wait.NextBackOff)
	if failure.RetryAfter > 0 { // the server knows better; it is not asked more than about once a second
		wait = max(failure.RetryAfter, min(wait, firstWait))
	}
	if failure.Busy {
		t.busy += wait
		return wait, fmt.Sprintf("Trying again in %s, as the server is busy (%s of at most %s).",
			rounded(wait), rounded(t.busy), rounded(maxBusy)), t.busy <= maxBusy
	}
	t.failed++
	t.waited += wait
	return wait, fmt.Sprintf("Trying again in %s (try %d of %d).", rounded(wait), t.failed+1, maxTries),
		t.failed < maxTries && t.waited <= maxWaiting
}

// rounded is a time as the user reads it: to the tenth below ten seconds.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// RetryTitle is the title of a notice that says why a model call failed, and when it is tried
// again. The next StepStarted is that try.
const RetryTitle = "Retrying"

func (l *Loop) notice(text string) {
	l.emit(transcript.Notice{Severity: transcript.Warning, Title: RetryTitle, Text: text})
}

// gaveUp is the failure with what was done about it.
func (t *tries) gaveUp(failure *model.Error) error {
	said := *failure
	if t.failed > 1 {
		said.Message = fmt.Sprintf("%s (tried %d times)", failure.Message, t.failed)
	}
	if failure.Kind == model.Transient && failure.RetryAfter > 0 {
		said.Hint = fmt.Sprintf("the server asks to wait %s", failure.RetryAfter.Round(time.Second))
	}
	return &said
}

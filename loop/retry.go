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
	// maxTries bounds how often a call that fails is made.
	maxTries = 5
	// maxWaiting bounds the sum of the waits between those tries.
	maxWaiting = time.Minute
	// maxBusy bounds the sum of the waits for a server that is busy. They do not count as tries.
	maxBusy = 10 * time.Minute
	// firstWait is the wait before the second try. Later waits grow, with jitter, up to
	// longestWait.
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// errEmpty is the failure of a step whose answer was empty twice.
var errEmpty = &model.Error{
	Kind: model.Invalid, Message: "the model returned an empty answer twice",
	Hint: "send the prompt again, or choose another model",
}

// tries counts the attempts of one step.
type tries struct {
	wait    *backoff.ExponentialBackOff
	tape    *record.Tape
	failed  int           // calls that failed while the server was not busy
	empties int           // empty answers
	waited  time.Duration // after calls that failed
	busy    time.Duration // while the server was busy
}

func newTries() *tries {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = firstWait, longestWait
	return &tries{wait: wait}
}

// ask makes one step. It tries a transient failure again (R140). When the stream breaks after text was
// shown, that text stays, and the model is asked to go on.
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
		// A server that stopped in the middle of its answer is not asked again: the user has waited long
		// enough.
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

// next counts a failure. It returns how long to wait before the next try, a sentence about that for the
// user, and whether there is a next try.
func (t *tries) next(failure *model.Error) (wait time.Duration, next string, ok bool) {
	wait = record.Value(t.tape, "wait", "", t.wait.NextBackOff)
	if failure.RetryAfter > 0 { // the server says when, but not more than about once a second
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

// RetryTitle is the title of a notice that says why a model call failed, and when the next one is made.
// The next StepStarted is that call.
const RetryTitle = "Retrying"

func (l *Loop) notice(text string) {
	l.emit(transcript.Notice{Severity: transcript.Warning, Title: RetryTitle, Text: text})
}

// gaveUp is the failure with the number of tries, and when the server wants to be asked again.
func (t *tries) gaveUp(failure *model.Error) error {
	failed := *failure
	if t.failed > 1 {
		failed.Message = fmt.Sprintf("%s (tried %d times)", failure.Message, t.failed)
	}
	if failure.Kind == model.Transient && failure.RetryAfter > 0 {
		failed.Hint = fmt.Sprintf("the server asks to wait %s", failure.RetryAfter.Round(time.Second))
	}
	return &failed
}

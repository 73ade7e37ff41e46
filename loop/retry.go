package loop

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"acp-agent/model"
	"acp-agent/transcript"
)

// Bounds of the repeats of a failing model call.
const (
	// maxTries is how often a call is made at most.
	maxTries = 5
	// maxWaiting bounds the time spent waiting between tries, all together.
	maxWaiting = time.Minute
	// firstWait is the wait before the second try; it grows and is jittered
	// from there.
	firstWait = time.Second
)

// errEmpty is a model that answered with nothing, twice.
var errEmpty = &model.Error{
	Kind: model.Invalid, Message: "the model returned an empty answer twice",
	Hint: "send the prompt again, or choose another model",
}

// ask makes one step, trying again what may pass. Text that was shown is never
// shown again: once there is some, a broken stream is an error (R140).
func (l *Loop) ask(ctx context.Context) (*step, error) {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = firstWait, maxWaiting/2
	waited := time.Duration(0)
	empties := 0
	for try := 1; ; try++ {
		s, err := l.stream(ctx)
		if err == nil && !s.empty() {
			return s, nil
		}
		if err == nil {
			if empties++; empties > 1 {
				return nil, errEmpty
			}
			l.emit(transcript.StepDropped{MessageID: s.id})
			l.notice("The model returned an empty answer. Asking again.")
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		failure := model.AsError(err)
		if failure.Kind != model.Transient || s.said || try == maxTries {
			return nil, gaveUp(failure, try)
		}
		pause := max(wait.NextBackOff(), failure.RetryAfter)
		if waited += pause; waited > maxWaiting {
			return nil, gaveUp(failure, try)
		}
		l.notice(fmt.Sprintf("%s. Trying again in %s (try %d of %d).",
			failure.Message, pause.Round(100*time.Millisecond), try+1, maxTries))
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

func (l *Loop) notice(text string) {
	l.emit(transcript.Notice{Severity: transcript.Warning, Title: "Retrying", Text: text})
}

func gaveUp(failure *model.Error, tries int) error {
	said := *failure
	if tries > 1 {
		said.Message = fmt.Sprintf("%s (tried %d times)", failure.Message, tries)
	}
	if failure.RetryAfter > 0 {
		said.Hint = fmt.Sprintf("the server asks to wait %s", failure.RetryAfter.Round(time.Second))
	}
	return &said
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

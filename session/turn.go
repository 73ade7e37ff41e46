package session

import (
	"context"
	"errors"
	"sync"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// The causes a turn can be cancelled with.
var (
	// ErrCancelled is the user's cancel.
	ErrCancelled = errors.New("cancelled by the user")
	// ErrClosed is the end of the session.
	ErrClosed = errors.New("the session was closed")
)

// NotRunError answers a queued prompt when the turn before it failed. It is not run, because it would
// probably fail, too; the user decides whether to send it again (R143).
type NotRunError struct{ Cause error }

// Error says why the prompt was not run.
func (e *NotRunError) Error() string {
	return "not sent, because the prompt before it failed: " + e.Cause.Error()
}

// Unwrap returns the failure of the turn before.
func (e *NotRunError) Unwrap() error { return e.Cause }

// Turn is a prompt that was accepted: queued, running or ended.
type Turn struct {
	queue  *turnQueue
	prompt *transcript.Message // nil in a synthetic turn
	number int64               // of the prompt in its session
	// synthetic is set instead of prompt when the agent itself adds a message.
	synthetic *synthetic
	// during answers the prompt while another turn runs; nil means that it waits its turn.
	during func(ctx context.Context) (loop.StopReason, error)

	// steers says that the prompt is not a command, and may go into the turn that runs when it comes.
	steers bool
	// injected says that it goes in whatever the user chose; it does not change after inject.
	injected bool
	// wentIn says that it went into another turn; the queue's lock guards it.
	wentIn bool
	// sealed says that nothing goes into it any more, because the model has answered the prompt and all that
	// went in; the queue's lock guards it.
	sealed bool

	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	stop   loop.StopReason
	err    error
	// failedBefore is the failure of the turn that this one waited for; the queue's lock
	// guards it.
	failedBefore error

	release  sync.Once
	released chan struct{}
}

// synthetic is a message that the agent adds to the conversation between two prompts, such
// as the report of a subagent in the background (R68).
type synthetic struct {
	message *transcript.Message
	// text is shown to the user; "" shows nothing.
	text string
	// after is closed when the message may be added.
	after <-chan struct{}
	// early says that the message may go into the turn that runs, before its next request.
	early bool
	// stale reports whether the message has become superfluous; nil means never.
	stale func() bool
}

// Release says that the answer to the turn has been delivered. Until then no other turn of the session
// starts, so that nothing of the next one can be taken for a part of this one. Call it after Wait. When
// it returns, the session is idle, or the next turn is the one that Cancel ends.
func (t *Turn) Release() {
	t.release.Do(func() {
		t.queue.advance(t)
		close(t.released)
	})
}

// Wait waits until the turn has ended, and returns how. A turn that was cancelled, queued or running, ends
// with loop.Cancelled and no error (R153). When ctx ends first, Wait cancels the turn.
func (t *Turn) Wait(ctx context.Context) (loop.StopReason, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		t.queue.withdraw(t, context.Cause(ctx))
		<-t.done
	}
	return t.stop, t.err
}

// ended reports whether the turn has ended, whether or not its answer is delivered.
func (t *Turn) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// takesTime reports whether the turn is of a prompt, has not ended, and is not answered at once.
func (t *Turn) takesTime() bool {
	return t != nil && t.synthetic == nil && t.during == nil && !t.ended()
}

func (t *Turn) end(stop loop.StopReason, err error) {
	t.stop, t.err = stop, err
	t.cancel(nil)
	close(t.done)
}

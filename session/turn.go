package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"acp-agent/loop"
	"acp-agent/transcript"
)

// The causes a turn can be cancelled with.
var (
	// ErrCancelled is the person's cancel.
	ErrCancelled = errors.New("cancelled by the user")
	// ErrClosed is the end of the session.
	ErrClosed = errors.New("the session was closed")
)

// NotRunError answers a queued prompt when the turn before it failed: the queue
// is not drained into the same failure, and the person decides (R143).
type NotRunError struct{ Cause error }

// Error says why the prompt was not run.
func (e *NotRunError) Error() string {
	return "not sent, because the prompt before it failed: " + e.Cause.Error()
}

// Unwrap returns the failure of the turn before.
func (e *NotRunError) Unwrap() error { return e.Cause }

// Turn is a prompt that was accepted: queued, running or ended.
type Turn struct {
	session *Session
	prompt  *transcript.Message
	// told, instead of a prompt, is a message that the agent puts into the conversation
	// once it is its turn (R68), and not before shown is closed. The user is told what said
	// says, if anything.
	told   *transcript.Message
	said   string
	shown  <-chan struct{}
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
	stop   loop.StopReason
	err    error
	// behind is the failure of the turn before, behind which this one waited.
	behind error

	release  sync.Once
	released chan struct{}
}

// Release says that the turn's answer has been delivered: until then the
// session starts no other turn, so that nothing of the next one can be taken
// for a part of this one. It is to be called after Wait. When it returns, the
// session is idle or the next turn is the one that Cancel ends.
func (t *Turn) Release() {
	t.release.Do(func() {
		t.session.advance(t)
		close(t.released)
	})
}

// Wait returns how the turn ended. A turn that was cancelled, queued or
// running, ends with loop.Cancelled and no error (R153). When ctx ends first,
// the turn is cancelled and Wait goes on until it has ended.
func (t *Turn) Wait(ctx context.Context) (loop.StopReason, error) {
	select {
	case <-t.done:
	case <-ctx.Done():
		t.session.withdraw(t, context.Cause(ctx))
		<-t.done
	}
	return t.stop, t.err
}

func (t *Turn) end(stop loop.StopReason, err error) {
	t.stop, t.err = stop, err
	t.cancel(nil)
	close(t.done)
}

// Prompt accepts a prompt: it runs at once when the session is idle and waits
// its turn otherwise (R143), unless it is a command that is answered beside the
// running turn. It never blocks, so a cancel that arrives right behind it finds it.
func (s *Session) Prompt(parts []transcript.Part) *Turn {
	return s.enqueue(&Turn{prompt: &transcript.Message{
		ID: s.host.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}})
}

// enqueue runs a turn when it is its turn.
func (s *Session) enqueue(t *Turn) *Turn {
	t.session, t.done, t.released = s, make(chan struct{}), make(chan struct{})
	t.ctx, t.cancel = context.WithCancelCause(s.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		t.end(loop.Cancelled, nil)
		return t
	}
	if s.current != nil && s.beside(t) {
		return t
	}
	if s.current != nil {
		at := len(s.queue)
		if t.told != nil { // the prompt that waits is to know of it
			at = s.nextPrompt(func(*Turn) bool { return true })
		}
		s.queue = slices.Insert(s.queue, at, t)
		return t
	}
	s.current = t
	if !s.draining {
		s.draining = true
		s.running.Go(s.drain)
	}
	return t
}

// beside answers a prompt at once, next to the turn that runs, which it leaves alone,
// if it is one of those commands. The caller holds s.mu.
func (s *Session) beside(t *Turn) bool {
	if s.current.ended() || t.prompt == nil {
		return false
	}
	answer, beside, ok := s.command(t.prompt)
	if !ok || !beside {
		return false
	}
	s.running.Go(func() { s.replyBeside(t, answer) })
	return true
}

// nextPrompt is where in the queue the first prompt stands that satisfies ok; its length
// when none does.
func (s *Session) nextPrompt(ok func(*Turn) bool) int {
	i := slices.IndexFunc(s.queue, func(t *Turn) bool { return t.told == nil && ok(t) })
	if i < 0 {
		return len(s.queue)
	}
	return i
}

// Cancel ends the running turn and all subagents (R67); queued prompts stay (C-25). With no turn
// running it ends what runs in the background, and nothing that comes later is affected.
//
// A turn that has ended is the current one until its answer is delivered. The
// client may have that answer, and its next prompt and a cancel of that be here,
// a moment before we learn of the delivery: the cancel is for the next turn. So it is
// while the agent itself has something to say, which is no turn to the client.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	running := s.current
	if running != nil && (running.told != nil || running.ended()) {
		if i := s.nextPrompt(func(t *Turn) bool { return t.behind == nil }); i < len(s.queue) {
			running = s.queue[i]
		}
	}
	if running != nil {
		running.cancel(ErrCancelled)
	}
	s.family.Abort()
}

// ended reports whether the turn has ended, delivered or not.
func (t *Turn) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// withdraw cancels one turn: a queued one leaves the queue, the running one is
// cancelled.
func (s *Session) withdraw(t *Turn, cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, queued := range s.queue {
		if queued == t {
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
			t.end(loop.Cancelled, nil)
			return
		}
	}
	if cause == nil {
		cause = ErrCancelled
	}
	t.cancel(cause)
	if t == s.current && !t.ended() {
		s.family.Abort()
	}
}

// drain runs the current turn and those that follow it. A turn's answer is out
// before the next one may emit anything.
func (s *Session) drain() {
	for t := s.head(); t != nil; t = s.head() {
		stop, err := s.runTurn(t)
		s.finish(t, stop, err)
		if t.told != nil {
			t.Release() // it has no answer
		}
		select {
		case <-t.released:
		case <-s.ctx.Done():
			s.lastAnswer(t)
		}
	}
}

// answerWait is how long a session that ends waits for the answer of its last
// turn to be delivered.
const answerWait = time.Second

// lastAnswer lets the answer of a turn go out before the session is gone.
func (s *Session) lastAnswer(t *Turn) {
	wait := time.NewTimer(answerWait)
	defer wait.Stop()
	select {
	case <-t.released:
	case <-wait.C:
		s.advance(t)
	}
}

// head returns the turn to run; without one the drain ends.
func (s *Session) head() *Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draining = s.current != nil
	return s.current
}

// finish ends a turn. When it failed, the turns that wait behind it now will not
// run. A prompt that comes later may come from a client that has the answer,
// before we learn of the delivery: that one is to run.
func (s *Session) finish(t *Turn, stop loop.StopReason, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queued := range s.queue {
		if queued.told == nil {
			queued.behind = err
		}
	}
	t.end(stop, err)
}

// advance makes the first queued turn the current one, in the place of t. When t
// failed, those queued behind it end instead (R143), each behind its answer.
func (s *Session) advance(t *Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != t {
		return
	}
	s.current = nil
	s.queue = slices.DeleteFunc(s.queue, func(queued *Turn) bool {
		if queued.behind != nil {
			queued.end("", &NotRunError{Cause: queued.behind})
		}
		return queued.behind != nil
	})
	if len(s.queue) > 0 {
		s.current, s.queue = s.queue[0], s.queue[1:]
	}
}

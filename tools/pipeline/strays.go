package pipeline

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/tools"
)

// strays remembers goroutines that were left behind, until they end.
type strays struct {
	mu   sync.Mutex
	left []<-chan struct{}
}

// add remembers a goroutine that closes done when it ends.
func (s *strays) add(done <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, done)
}

// gone waits until every goroutine that was added has ended. Several callers
// may wait at once, and each waits for all.
func (s *strays) gone(ctx context.Context) error {
	s.mu.Lock()
	s.left = slices.DeleteFunc(s.left, ended)
	left := slices.Clone(s.left)
	s.mu.Unlock()
	for _, done := range left {
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// quietLimit bounds the wait for what was cancelled before. It is longer than
// a process has between TERM and KILL.
const quietLimit = 10 * time.Second

// quiet waits until nothing of an earlier, cancelled call can still act. What
// does not go, such as a read from a dead mount, must not wedge the session.
func (r *running) quiet(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	err := r.pipeline.strays.gone(limited)
	if err == nil {
		err = r.pipeline.Workspace.Quiet(limited)
	}
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &tools.Error{
			Kind: tools.Unavailable, Err: err,
			Message: "an earlier call that was stopped is still not gone, so this one was not started", Hint: "try again in a moment",
		}
	}
	return err
}

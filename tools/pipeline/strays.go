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

// settle waits until every goroutine that was added has ended, for at most
// limit. What has not ended by then is set aside: its runtime is finished and
// refuses whatever it tries, so nothing more is to be gained by waiting.
func (s *strays) settle(ctx context.Context, limit time.Duration) {
	s.mu.Lock()
	s.left = slices.DeleteFunc(s.left, ended)
	left := slices.Clone(s.left)
	s.mu.Unlock()
	if len(left) == 0 {
		return
	}
	clock := time.NewTimer(limit)
	defer clock.Stop()
	for _, done := range left {
		select {
		case <-done:
		case <-ctx.Done():
			return
		case <-clock.C:
			s.setAside(left)
			return
		}
	}
}

func (s *strays) setAside(these []<-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = slices.DeleteFunc(s.left, func(done <-chan struct{}) bool { return slices.Contains(these, done) })
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// quietLimit bounds the wait for processes that were stopped: it is longer than
// they have between TERM and KILL. strayLimit bounds the wait for tools.
const (
	quietLimit = 10 * time.Second
	strayLimit = 2 * time.Second
)

// quiet waits until nothing of an earlier, cancelled call can still act. What
// does not go, such as a read from a dead mount, must not wedge the session.
func (r *running) quiet(ctx context.Context) error {
	r.pipeline.strays.settle(ctx, strayLimit)
	limited, cancel := context.WithTimeout(ctx, quietLimit)
	defer cancel()
	err := r.pipeline.Workspace.Runner().Quiet(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &tools.Error{
			Kind: tools.Unavailable, Err: err,
			Message: "a command that was stopped is still not gone, so this call was not started", Hint: "try again in a moment",
		}
	}
	return err
}

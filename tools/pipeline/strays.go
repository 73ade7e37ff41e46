package pipeline

import (
	"context"
	"slices"
	"sync"
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

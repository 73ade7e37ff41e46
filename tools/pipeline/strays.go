package pipeline

import (
	"context"
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

// gone waits until every goroutine that was added has ended.
func (s *strays) gone(ctx context.Context) error {
	for {
		s.mu.Lock()
		left := s.left
		s.left = nil
		s.mu.Unlock()
		if len(left) == 0 {
			return nil
		}
		for i, done := range left {
			select {
			case <-done:
			case <-ctx.Done():
				s.mu.Lock()
				s.left = append(s.left, left[i:]...)
				s.mu.Unlock()
				return ctx.Err()
			}
		}
	}
}

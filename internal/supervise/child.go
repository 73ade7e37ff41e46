package supervise

import (
	"context"
	"errors"
	"sync"
)

// Process is one life of a child process.
type Process interface {
	// Err says why the process is of no use any more; nil means that it can be used.
	Err() error
	// Close ends the process, and returns when nothing is left of it.
	Close()
}

// ErrClosed is the error of a process that is wanted after Close.
var ErrClosed = errors.New("no more processes are started")

// Child is a process that is started when it is needed, and again after it ended. Its methods
// are safe for concurrent use.
type Child[P Process] struct {
	start func(ctx context.Context) (P, error)
	// lock holds a token while a caller of Use looks at the process and starts it.
	lock chan struct{}

	mu       sync.Mutex
	attempts Attempts
	process  P
	started  bool // process is set
	ended    bool // its end is among the failures
	closed   bool
}

// New returns a child that start starts. Nothing is started before Use. The end of the context
// of start gives up; the process outlives that context.
func New[P Process](attempts Attempts, start func(ctx context.Context) (P, error)) *Child[P] {
	return &Child[P]{start: start, lock: make(chan struct{}, 1), attempts: attempts}
}

// Use returns the running process, which is started if need be. The error is ctx's cause when
// it ended first, a *GaveUpError after too many failures in a row, ErrClosed after Close, else
// that of the start.
func (c *Child[P]) Use(ctx context.Context) (P, error) {
	var none P
	release, err := c.acquire(ctx)
	if err != nil {
		return none, err
	}
	defer release()
	if process, ok := c.running(); ok {
		return process, nil
	}
	c.mu.Lock()
	err = c.attempts.GaveUp()
	if c.closed {
		err = ErrClosed
	}
	c.mu.Unlock()
	if err != nil {
		return none, err
	}
	process, err := c.start(ctx)
	if err != nil && ctx.Err() != nil { // its caller gave up, which is not a failure of the process
		return none, context.Cause(ctx)
	}
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.attempts.Failed(err)
		return none, err
	}
	if !c.adopt(process) {
		process.Close()
		return none, ErrClosed
	}
	return process, nil
}

// adopt makes a process the current one, unless the child is closed.
func (c *Child[P]) adopt(process P) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.process, c.started, c.ended = process, true, false
	return true
}

// running returns the process if it can be used. One that has ended is closed and counted.
func (c *Child[P]) running() (process P, ok bool) {
	process, started := c.Current()
	if !started {
		return process, false
	}
	if process.Err() == nil {
		return process, true
	}
	c.mu.Lock()
	counted := c.ended
	c.mu.Unlock()
	if counted {
		return process, false
	}
	process.Close()
	why := process.Err() // with all that was read until its end
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts.Failed(why)
	c.ended = true
	return process, false
}

// Settle waits until no start is under way, or ctx ends.
func (c *Child[P]) Settle(ctx context.Context) error {
	release, err := c.acquire(ctx)
	if err == nil {
		release()
	}
	return err
}

func (c *Child[P]) acquire(ctx context.Context) (release func(), err error) {
	select {
	case c.lock <- struct{}{}:
		return func() { <-c.lock }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Current returns the process that was started last, which may have ended; ok is false before
// the first start.
func (c *Child[P]) Current() (process P, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process, c.started
}

// Worked notes that the process did what it is for: failures before are forgotten.
func (c *Child[P]) Worked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts.Worked()
}

// Close ends the process and waits for its end. A start that is under way ends its process
// itself; its owner cancels it and waits for Use.
func (c *Child[P]) Close() {
	c.mu.Lock()
	c.closed = true
	process, started := c.process, c.started
	c.mu.Unlock()
	if started {
		process.Close()
	}
}

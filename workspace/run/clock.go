package run

import (
	"context"
	"sync"
	"time"

	"acp-agent/tools"
)

// clock is the time limit of a command. It stands still while the user is asked about what
// the command waits for.
type clock struct {
	mu      sync.Mutex
	timer   *time.Timer // nil when there is no limit
	left    time.Duration
	since   time.Time
	waiting int
	over    bool
}

// start begins to count. The context ends with the cause tools.ErrCommandTime when the time
// is over. stop is called once, when the command has ended.
func (c *clock) start(ctx context.Context, limit time.Duration) (limited context.Context, stop func()) {
	if limit <= 0 {
		return ctx, func() {}
	}
	limited, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.since = limit, time.Now()
	c.timer = time.AfterFunc(limit, func() { cancel(tools.ErrCommandTime) })
	if c.waiting > 0 {
		c.timer.Stop()
	}
	return limited, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.over = true
		c.timer.Stop()
		cancel(nil)
	}
}

// wait stops the clock until resume.
func (c *clock) wait() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting++
	if c.waiting == 1 && c.timer != nil && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return sync.OnceFunc(c.resume)
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting--
	if c.waiting == 0 && c.timer != nil && !c.over {
		c.since = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

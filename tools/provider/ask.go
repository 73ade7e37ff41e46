package provider

import (
	"context"
	"time"

	"acp-agent/internal/pause"
)

// answerTime is how long a turn waits for a provider whose tools are known to say whether they
// have changed. One that takes longer is waited for once, and its answer counts when it
// arrives.
const answerTime = 500 * time.Millisecond

// awaitAnswer waits for what is being asked of a provider that works, for a moment.
func (p *provider) awaitAnswer(ctx context.Context) {
	p.mu.Lock()
	asking, left := p.asking, answerTime-time.Since(p.since)
	works := p.failed == nil
	p.mu.Unlock()
	if asking == nil || !works || left <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	select {
	case <-asking:
	case <-ctx.Done():
	}
}

// ask runs askAgain in the background. When it runs already, it runs once more after that, however
// often ask is called.
func (p *provider) ask() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stale = true
	if p.asking != nil {
		return
	}
	asking := make(chan struct{})
	if p.service.spawn(func(ctx context.Context) {
		defer close(asking)
		for p.outdated() {
			p.rest(ctx)
			p.askAgain(ctx)
		}
	}) {
		p.asking, p.since = asking, time.Now()
	}
}

// askPause is the least time between two requests for the tools of a program, which may notify of
// changes all the time. An address sends no notifications.
const askPause = 200 * time.Millisecond

// rest waits until a program may be asked again.
func (p *provider) rest(ctx context.Context) {
	p.mu.Lock()
	left := askPause - time.Since(p.answered)
	p.mu.Unlock()
	if p.Type != Stdio || left <= 0 {
		return
	}
	_ = pause.For(ctx, left) // its caller looks at ctx
}

// outdated reports whether to ask now; if not, nothing is being asked any more.
func (p *provider) outdated() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stale || p.service.ctx.Err() != nil {
		p.asking = nil
		return false
	}
	p.stale = false
	return true
}

// askAgain asks a provider for its tools once more, and tries an address again that was not
// reached. Without an answer the list stays as it was.
func (p *provider) askAgain(ctx context.Context) {
	// A start under way may have read the tools before they changed.
	if p.child.Settle(ctx) != nil {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errSlowStart)
	defer cancel()
	l := p.usable()
	if l == nil {
		if p.Type == HTTP {
			_, _ = p.reach(ctx) // the failure is among the problems
		}
		return
	}
	if err := p.list(ctx, l); err != nil && p.service.ctx.Err() == nil {
		p.fail(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered = time.Now()
}

// notified is called by the goroutine that reads, and must not wait.
func (p *provider) notified(method string) {
	if method == "tools/changed" || method == "tools/list_changed" || method == "notifications/tools/list_changed" {
		p.ask()
	}
}

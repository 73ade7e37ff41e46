package provider

import "context"

// asked is closed when nothing is being asked of a provider that works: nobody waits for
// one that does not.
func (p *provider) asked() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking != nil && p.failed == nil {
		return p.asking
	}
	done := make(chan struct{})
	close(done)
	return done
}

// ask has again run behind the scenes; while it runs, once more behind it, however often
// that is wanted.
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
			p.again(ctx)
		}
	}) {
		p.asking = asking
	}
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

// again asks a provider for its tools once more; an address that was not reached is
// tried again. The list stays as it was when there is no answer.
func (p *provider) again(ctx context.Context) {
	select { // whoever reaches for it has the tools from before it said that they changed
	case p.lock <- struct{}{}:
		<-p.lock
	case <-ctx.Done():
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
		_ = p.fail(err)
	}
}

// notified is called by the goroutine that reads, and must not wait.
func (p *provider) notified(method string) {
	if method == "tools/changed" || method == "tools/list_changed" || method == "notifications/tools/list_changed" {
		p.ask()
	}
}

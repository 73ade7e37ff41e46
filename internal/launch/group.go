package launch

import (
	"context"
	"sync"
	"time"
)

// Group is the set of commands of one session. The zero value is ready to use.
// Its methods may be called from any goroutine. It starts no goroutine.
type Group struct {
	mu     sync.Mutex
	live   map[*Process]struct{}
	closed bool
	grace  time.Duration // of Close
}

// Add puts a started command under the group. In a closed group it is stopped
// at once, so that a start that ran during [Group.Close] is not forgotten.
func (g *Group) Add(p *Process) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prune()
	if g.live == nil {
		g.live = make(map[*Process]struct{})
	}
	g.live[p] = struct{}{}
	if g.closed {
		p.Stop(g.grace)
	}
}

// StopAll stops every command of the group; see [Process.Stop]. It returns at
// once, and the group can take further commands.
func (g *Group) StopAll(grace time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prune()
	for p := range g.live {
		p.Stop(grace)
	}
}

// Close is StopAll for a session that ends: a command added later is stopped
// at once.
func (g *Group) Close(grace time.Duration) {
	g.mu.Lock()
	g.closed, g.grace = true, grace
	g.mu.Unlock()
	g.StopAll(grace)
}

// WaitStopped returns when no process of a stopped command is left. It does not wait for
// commands that were not stopped. The error is ctx's cause.
func (g *Group) WaitStopped(ctx context.Context) error {
	for _, p := range g.stopped() {
		select {
		case <-p.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (g *Group) stopped() []*Process {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []*Process
	for p := range g.live {
		if p.isStopped() {
			out = append(out, p)
		}
	}
	return out
}

// prune forgets the commands that are gone. The caller holds mu.
func (g *Group) prune() {
	for p := range g.live {
		select {
		case <-p.Done():
			delete(g.live, p)
		default:
		}
	}
}

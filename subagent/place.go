package subagent

import (
	"context"

	"acp-agent/transcript"
)

// The places are as many as subagents may run at once (I4). An agent has one while it
// runs, and its time runs while it has one. It gives it away while it waits for a
// subagent: otherwise the agents that wait could hold all the places that those they
// wait for need. So it does while it waits for the person, whose time is not its own (R103).

// Await says that a call of the agent begins to wait for the person; over, that it waits no
// more; it returns once the agent has a place again, or ctx has ended.
func (n *Node) Await(ctx context.Context) (over func()) {
	n.pause()
	n.asks(1)
	return func() {
		n.asks(-1)
		n.resume(ctx)
	}
}

// asks counts the calls of the agent that wait for the user.
func (n *Node) asks(more int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asking += more; n.child != nil {
		n.child.Update(func(r *transcript.ChildRecord) { r.AwaitsUser = n.asking > 0 })
	}
}

// takePlace waits for a place, or until another call of the agent was faster: the one that
// it has is that of all its calls.
func (n *Node) takePlace(ctx context.Context) error {
	n.mu.Lock()
	needs, settled := n.needsPlace(), n.settled
	n.mu.Unlock()
	if !needs {
		return nil
	}
	select {
	case n.family.places <- struct{}{}:
	case <-settled:
		return n.takePlace(ctx)
	case <-ctx.Done():
		return ctx.Err()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.needsPlace() { // another call was faster, it has ended, or waits again
		<-n.family.places
		return nil
	}
	n.holds = true
	n.account.enter()
	n.settle()
	return nil
}

// needsPlace reports whether the agent is to have a place and has none. The lock is held.
func (n *Node) needsPlace() bool { return !n.holds && !n.left && n.blocked == 0 }

// settle wakes the calls that wait for a place, to look whether the agent needs one. The
// lock is held.
func (n *Node) settle() {
	close(n.settled)
	n.settled = make(chan struct{})
}

// leavePlace gives the place away for good.
func (n *Node) leavePlace() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.left = true
	n.give()
	n.settle()
}

// pause gives the place away while a call waits for a subagent or the person.
func (n *Node) pause() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocked++
	n.give()
}

// give gives the place away, if there is one. The lock is held.
func (n *Node) give() {
	if n.holds {
		n.holds = false
		n.account.leave()
		<-n.family.places
	}
}

// regain takes a place if the agent has none, for the call that was to take it again may
// have been cancelled by itself. One that was aborted goes on without, to its end.
func (n *Node) regain() {
	_ = n.takePlace(n.ctx)
}

// resume takes a place again once no call of the agent waits. One that was
// aborted meanwhile goes on without, to its end.
func (n *Node) resume(ctx context.Context) {
	n.mu.Lock()
	n.blocked--
	wanted := n.parent != nil && n.blocked == 0
	n.mu.Unlock()
	if wanted {
		_ = n.takePlace(ctx) // it fails when the call is over, and with it what the place is for
	}
}

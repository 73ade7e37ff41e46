package subagent

import (
	"context"
	"sync"

	"acp-agent/transcript"
)

// slotHolder holds the run slot of one subagent. A tree has as many slots as subagents may
// run at once; the time of an account counts while the agent has a slot. All calls of an
// agent share its slot.
//
// An agent releases its slot while a call of it waits for a subagent: otherwise the waiting
// agents could hold every slot that their children need. It also releases the slot while it
// waits for the user, because that time does not count for the agent (R103).
//
// A nil slotHolder, as the main agent has, needs no slot. It is safe for concurrent use.
type slotHolder struct {
	slots   chan struct{} // the tree's; holds one value for each slot in use
	account *account

	mu      sync.Mutex // guards what follows
	waiting int        // calls of the agent that wait for a subagent or the user
	held    bool
	closed  bool          // the agent ends and acquires no slot any more
	changed chan struct{} // closed and replaced when the agent gets a slot or closes
}

func newSlotHolder(slots chan struct{}, account *account) *slotHolder {
	return &slotHolder{slots: slots, account: account, changed: make(chan struct{})}
}

// acquire waits for a slot, unless the agent has or needs none. It returns an error when ctx
// ends first.
func (s *slotHolder) acquire(ctx context.Context) error {
	for {
		s.mu.Lock()
		missing, changed := s.missing(), s.changed
		s.mu.Unlock()
		if !missing {
			return nil
		}
		select {
		case s.slots <- struct{}{}:
			s.keepIfMissing()
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// keepIfMissing stores a slot that was just taken from slots. It gives the slot back if
// another call got one first, or the agent meanwhile waits or ends.
func (s *slotHolder) keepIfMissing() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.missing() {
		<-s.slots
		return
	}
	s.held = true
	s.account.startClock()
	s.wake()
}

// missing reports whether the agent needs a slot and has none. The caller holds mu.
func (s *slotHolder) missing() bool { return !s.held && !s.closed && s.waiting == 0 }

// wake makes the calls in acquire check again. The caller holds mu.
func (s *slotHolder) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// release gives the slot back, if there is one. The caller holds mu.
func (s *slotHolder) release() {
	if s.held {
		s.held = false
		s.account.stopClock()
		<-s.slots
	}
}

// close releases the slot for good.
func (s *slotHolder) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.release()
	s.wake()
}

// beginWait releases the slot while a call waits for a subagent or the user.
func (s *slotHolder) beginWait() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting++
	s.release()
}

// endWait acquires a slot again once no call of the agent waits. It gives up when ctx ends:
// a cancelled call needs no slot.
func (s *slotHolder) endWait(ctx context.Context) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.waiting--
	s.mu.Unlock()
	_ = s.acquire(ctx)
}

// WaitForUser marks a call of the agent as waiting for the user and releases the run slot.
// The returned function ends the wait; it returns once the agent has a slot again or ctx
// ends.
func (n *Node) WaitForUser(ctx context.Context) (end func()) {
	n.slot.beginWait()
	n.countAsking(1)
	return func() {
		n.countAsking(-1)
		n.slot.endWait(ctx)
	}
}

// countAsking changes the number of calls that wait for the user.
func (n *Node) countAsking(change int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.asking += change; n.child != nil {
		n.child.Update(func(r *transcript.ChildRecord) { r.AwaitsUser = n.asking > 0 })
	}
}

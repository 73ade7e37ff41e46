package workspace

import (
	"slices"
)

// Delegate is an agent that work is delegated to, as the workspace has to know it.
type Delegate struct {
	// Agent is its path of names for the audit, such as "main/explore" (R129).
	Agent string
	// Parent is the id of the call that delegates. What the agent changes belongs to
	// that call too (R128). It is never empty.
	Parent string
	// Path are the ids from the session down to the agent; see [tools.Session].
	Path []string
}

// id is the agent's own; "" for the main agent.
func (d *Delegate) id() string {
	if d.Parent == "" || len(d.Path) == 0 {
		return ""
	}
	return d.Path[len(d.Path)-1]
}

// Delegate returns the same workspace for an agent that w's agent hands work to: the same
// roots, private directory, limits, locks, commands, editor and record of changes. What
// the user opened by an answer is each agent's own and goes to no other, neither down
// nor up (R64). The end of the session ends it; [Workspace.Release] does so earlier.
func (w *Workspace) Delegate(d Delegate) *Workspace {
	w.history.Nest(d.Parent, w.delegate.Parent)
	return w.agent(d)
}

// agent adds an agent to the session.
func (s *shared) agent(d Delegate) *Workspace {
	d.Path = slices.Clone(d.Path)
	w := &Workspace{shared: s, checker: checker{layout: s.paths}, delegate: d}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		w.opened.release()
	} else {
		s.agents[w] = struct{}{}
	}
	return w
}

// Release ends what the user opened for an agent that has ended, and its jobs. It waits for nothing:
// a call of the agent that still runs is refused what lies outside the session's
// directories from now on. What the agent changed stays on record. It may be called more
// than once, and is not needed before Close.
func (w *Workspace) Release() {
	if id := w.delegate.id(); id != "" {
		w.runner.Jobs().StopAgent(id)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.agents, w)
	w.opened.release()
}

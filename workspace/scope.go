package workspace

import (
	"path/filepath"

	"acp-agent/capability"
	"acp-agent/tools"
)

// Vars are the directories that the variables of requirement sets stand for, as
// a call may use them now (R111): the workspace is what the session may write,
// ad-hoc what was opened beside it for reading.
func (w *Workspace) Vars(callID string) capability.Vars {
	vars := capability.Vars{capability.VarWorkspace: {w.private.Path()}, capability.VarAdHoc: nil}
	for _, r := range w.roots(callID) {
		name := capability.VarAdHoc
		if r.write || r.own {
			name = capability.VarWorkspace
		}
		vars[name] = append(vars[name], filepath.Join(r.path, r.only))
	}
	return vars
}

// Confine bounds what the call may touch further, to what its tool declared;
// until then it may use all that the session may.
func (c *Call) Confine(scope capability.Compiled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scope = &scope
}

// Way is where a path led at the moment of its use.
type Way struct {
	// Asked is the absolute path that was used, Real where it led.
	Asked, Real string
	// Names are all that it went by: Asked, what links on the way made of it, Real.
	Names []string
	Write bool
}

// Bind has f look at each path at the moment of its use, once it is known to lie
// where the session may work; an error refuses it. The session's own directory is not
// looked at.
func (c *Call) Bind(f func(Way) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bound = f
}

// inBounds asks what the call was bound by.
func (c *Call) inBounds(t *trail, r *root, write bool) error {
	c.mu.Lock()
	bound := c.bound
	c.mu.Unlock()
	if bound == nil || r.own {
		return nil
	}
	return bound(Way{Asked: t.asked, Real: t.real(), Names: t.names, Write: write})
}

// inScope refuses a path beyond what the tool of this call declared.
func (c *Call) inScope(t *trail, write bool) error {
	c.mu.Lock()
	scope := c.scope
	c.mu.Unlock()
	real := t.real()
	switch {
	case scope == nil, scope.Write(real), !write && scope.Read(real):
		return nil // what may be overwritten may be looked at before
	}
	refused := tools.Undeclared(c.tool, real)
	refused.Path = t.asked
	return refused
}

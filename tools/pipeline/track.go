package pipeline

import (
	"context"
	"slices"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/workspace/undo"
)

// scan looks at the session's files before a command or server runs that may change them, so that
// the changes can be reported and taken back (R128). It is nil for a call that only reads.
func (e *execution) scan(ctx context.Context) *undo.Scan {
	if !e.access.mayChangeOtherFiles() {
		return nil
	}
	return e.pipeline.Workspace.History().Look(ctx)
}

// compare records what the command or server has changed since scan, and which directories it did
// not look at.
func (e *execution) compare(ctx context.Context, scan *undo.Scan) {
	if scan == nil {
		return
	}
	if ctx.Err() != nil {
		// The command is being stopped after the answer, which must not wait for a scan.
		scan.Leave()
		e.notScanned = "the call was stopped before its changes could be looked for"
		return
	}
	var changes []undo.FileChange
	changes, e.notScanned = scan.Changed(ctx)
	e.runtime.NoteScan(changes)
}

// mayChangeOtherFiles reports whether the call may change files that it does not name: it runs
// commands or programs, or a server does its work.
func (a *commandAccess) mayChangeOtherFiles() bool {
	if a.entry.ReadOnly || a.heldToReading() {
		return false
	}
	if kind := a.entry.Source.Kind; kind == tools.MCP || kind == tools.Provider {
		return !a.entry.SaysReadOnly
	}
	return len(a.entry.Requires.Shell) > 0 || slices.Contains(a.entry.Requires.Capabilities, capability.CapShellRun)
}

// modified returns the files that the call changed, with links resolved: the files that the tool
// wrote through its runtime, that a command changed, and that the result names.
func (e *execution) modified() []string {
	all := e.pipeline.Workspace.History().Modified(e.ID)
	if e.result != nil {
		for _, path := range e.result.TrackFiles {
			all = append(all, e.judgement.confinement.changedPath(path))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

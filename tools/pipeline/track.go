package pipeline

import (
	"context"
	"slices"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/workspace/undo"
)

// scan looks at the session's files before a command or server that may change them, so
// that its changes can be reported and taken back (R128). What was judged to only
// read is not worth the time.
func (e *execution) scan(ctx context.Context) *undo.Scan {
	if !e.reach.unpredictable() {
		return nil
	}
	return e.pipeline.Workspace.History().Look(ctx)
}

// compare notes what the command or server changed; the result says what that was and what
// was not looked at.
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

// unpredictable reports whether the call may change files that it does not
// name: it runs commands or programs, or a server does its work.
func (r *reach) unpredictable() bool {
	if r.entry.ReadOnly || r.reading() {
		return false
	}
	if kind := r.entry.Source.Kind; kind == tools.MCP || kind == tools.Provider {
		return !r.entry.SaysReadOnly
	}
	return len(r.entry.Requires.Shell) > 0 || slices.Contains(r.entry.Requires.Capabilities, capability.CapShellRun)
}

// modified are the files that the call changed, with links resolved: files that
// went through the tracker, files that a command changed, and files that the
// tool itself names.
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

package workspace

import (
	"context"

	"acp-agent/tools"
	"acp-agent/workspace/undo"
)

// Changes are the session's changes of files as the call may take them back
// (R95, R127). Like WriteText, Undo leaves locking to the caller.
func (c *Call) Changes() tools.Changes { return changes{c} }

type changes struct{ c *Call }

// Last describes what Undo would do.
func (c changes) Last(ctx context.Context, path string) (tools.Change, error) {
	return c.c.w.history.Describe(ctx, c.c.undoCall(), c.c.w.changed(path))
}

// Undo takes back the last change of a file.
func (c changes) Undo(ctx context.Context, path string) (tools.Change, error) {
	return c.c.w.history.Undo(ctx, c.c.undoCall(), c.c.w.changed(path))
}

// Rollback takes back what the call changed so far. It goes on when the call is
// cancelled, when it has ended, and while the session closes: half a change is
// worse than a late one. The caller may hold the locks of the files.
func (c changes) Rollback(ctx context.Context) []error {
	return c.c.w.rollback(context.WithoutCancel(ctx), c.c.id, nil)
}

// undoCall returns the call in the form that the history takes.
func (c *Call) undoCall() undo.Call {
	return undo.Call{Origin: c.origin(), Files: restorer{c.files()}}
}

// Rollback takes back what an operation, which is a call by its id, changed through
// files; see [undo.History.Rollback]. It waits for the locks of the files.
func (w *Workspace) Rollback(ctx context.Context, operation string) []error {
	return w.rollback(ctx, operation, w.o.Locks.lockAll)
}

func (w *Workspace) rollback(
	ctx context.Context, operation string, lock func(ctx context.Context, paths []string) (unlock func(), err error),
) []error {
	end, ok := w.inFlight.start()
	defer end()
	// The operation's own call may have ended, and the session may be ending.
	c := w.newCall("", "rollback", nil, ok)
	defer c.Finish()
	by := c.undoCall()
	by.Lock = lock
	return w.history.Rollback(ctx, by, operation)
}

// undoing lists the paths that Undo of a file would change, links resolved.
func (w *Workspace) undoing(abs string) []string { return w.history.LastPaths(w.changed(abs)) }

// changed names a file by all paths under which its changes may be recorded.
func (w *Workspace) changed(path string) undo.File {
	abs := w.abs(path)
	file := undo.File{Path: abs, Secret: w.leadsToSecret(abs)}
	for _, follow := range []func(string) (*trail, error){followName, follow} {
		if t, err := follow(abs); err == nil {
			file.Resolved = append(file.Resolved, t.real())
		}
	}
	return file
}

// UndoFrom takes back all that happened to files after a message of the user, by its number
// among the checkpoints of the history, and marks it and those after it as undone. overwrite
// decides about files that were changed by others since; nil leaves them.
func (w *Workspace) UndoFrom(ctx context.Context, i int, overwrite undo.Overwrite) (out undo.Outcome, err error) {
	err = w.undoWhole(func(by undo.Call, tree undo.Tree) (err error) {
		out, err = w.history.UndoFrom(ctx, by, tree, i, overwrite)
		return err
	})
	return out, err
}

// Redo takes the last undo back. first is the number of the first message that counts again.
func (w *Workspace) Redo(ctx context.Context, overwrite undo.Overwrite) (first int, out undo.Outcome, err error) {
	err = w.undoWhole(func(by undo.Call, tree undo.Tree) (err error) {
		first, out, err = w.history.Redo(ctx, by, tree, overwrite)
		return err
	})
	return first, out, err
}

// undoWhole calls do, which takes back a whole turn. The end of the session waits for it.
func (w *Workspace) undoWhole(do func(undo.Call, undo.Tree) error) error {
	end, ok := w.inFlight.start()
	defer end()
	if !ok {
		return endedError("the session")
	}
	c := w.newCall("undo", "undo", nil, true)
	defer c.Finish()
	by := c.undoCall()
	by.Lock = w.o.Locks.lockAll
	return do(by, reverter{restorer{c.files()}})
}

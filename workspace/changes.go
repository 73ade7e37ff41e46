package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// Changes are the session's changes of files as the call may take them back
// (R95, R127). Like WriteText, Undo leaves locking to the caller.
func (c *Call) Changes() tools.Changes { return changes{files{c}} }

type changes struct{ files files }

// Last describes what Undo would do.
func (c changes) Last(ctx context.Context, path string) (tools.Change, error) {
	_, change, err := c.last(ctx, path)
	return change, err
}

// last finds the last change of a file, and proves that it can be taken back.
func (c changes) last(ctx context.Context, path string) (*journal.Entry, tools.Change, error) {
	f := c.files
	abs := f.w.abs(path)
	entry := f.w.journal.Last(f.w.spellings(abs)...)
	switch {
	case entry == nil:
		return nil, tools.Change{}, nothingError(abs)
	case !f.w.mayUndo(entry):
		return nil, tools.Change{}, othersError(abs)
	}
	_, err := f.standings(ctx, entry)
	if err == nil && entry.Lost() {
		err = f.lostError(entry)
	}
	if err != nil {
		return nil, tools.Change{}, err
	}
	return entry, f.describe(ctx, entry, abs), nil
}

// Undo takes back the last change of a file. A second one goes one further
// back: what an undo does is reported, but is no change to be undone itself.
func (c changes) Undo(ctx context.Context, path string) (tools.Change, error) {
	f := c.files
	entry, change, err := c.last(ctx, path)
	if err != nil {
		return tools.Change{}, err
	}
	if err := f.takeBack(ctx, entry); err != nil {
		return tools.Change{}, err
	}
	undone := make([]journal.Change, 0, len(entry.Records))
	for _, r := range entry.Records {
		undone = append(undone, journal.Change{
			Path: r.Path, Kind: inverse(r.Kind), Time: f.w.o.Now(), Before: r.After.Named(), After: r.Before.Named(),
		})
	}
	f.w.journal.Undone(entry, f.origin(), undone...)
	return change, nil
}

// Rollback takes back what the call changed so far. It goes on when the call is
// cancelled, when it has ended, and while the session closes: half a change is
// worse than a late one. The caller may hold the locks of the files.
func (c changes) Rollback(ctx context.Context) []error {
	return c.files.w.rollback(context.WithoutCancel(ctx), c.files.id, false)
}

// Rollback takes back what an operation, which is a call by its id, changed
// through files, and what agents changed to whom it delegated, at any depth: the newest
// change first, whosever it is (R127, R128). What cannot be restored
// stays as it is and on record, and is returned; the rest is restored, and
// forgotten with its pre-images. A second Rollback tries what is left. It waits
// for the locks of the files.
func (w *Workspace) Rollback(ctx context.Context, operation string) []error {
	return w.rollback(ctx, operation, true)
}

func (w *Workspace) rollback(ctx context.Context, operation string, lock bool) (failed []error) {
	end, ok := w.begun.begin()
	defer end()
	// The operation's own call may have ended, and the session may be ending.
	c := w.start(&Call{w: w, tool: "rollback", late: ok})
	defer c.Finish()
	f := files{c}
	var stuck []string
	for _, entry := range w.journal.Of(operation) {
		paths := entry.Paths()
		if slices.ContainsFunc(paths, func(path string) bool { return slices.Contains(stuck, path) }) {
			stuck = append(stuck, paths...) // what lies below cannot be reached
			continue
		}
		err := f.lockedTakeBack(ctx, entry, lock)
		if err != nil {
			stuck = append(stuck, paths...)
			failed = append(failed, fmt.Errorf("roll back %s: %w", strings.Join(paths, ", "), err))
			continue
		}
		w.journal.TakenBack(entry)
	}
	return failed
}

func (f files) lockedTakeBack(ctx context.Context, entry *journal.Entry, lock bool) error {
	if !lock {
		return f.takeBack(ctx, entry)
	}
	for _, path := range lockOrder(entry.Paths()) {
		unlock, err := f.w.o.Locks.Lock(ctx, path)
		if err != nil {
			return err
		}
		defer unlock()
	}
	return f.takeBack(ctx, entry)
}

// undoing lists the paths that Undo of a file would change, links resolved.
func (w *Workspace) undoing(abs string) []string {
	entry := w.journal.Last(w.spellings(abs)...)
	if entry == nil {
		return nil
	}
	return entry.Paths()
}

// spellings are the paths under which the changes of a file may be noted: the
// name itself, if it was a link that changed, and where it leads.
func (w *Workspace) spellings(abs string) []string {
	var paths []string
	for _, follow := range []func(string) (*trail, error){followName, follow} {
		if t, err := follow(abs); err == nil {
			paths = append(paths, t.real())
		}
	}
	return paths
}

// describe tells the texts before and after the undo.
func (f files) describe(ctx context.Context, entry *journal.Entry, abs string) tools.Change {
	here := entry.Records[0]
	if i := slices.IndexFunc(entry.Records, func(r journal.Record) bool {
		return slices.Contains(f.w.spellings(abs), r.Path)
	}); i >= 0 {
		here = entry.Records[i]
	}
	change := tools.Change{Path: abs, Exists: here.Before.Form != journal.Absent}
	for _, r := range entry.Records {
		if r.Path != here.Path {
			change.Also = append(change.Also, r.Path)
		}
	}
	if f.Secret(abs) {
		return change
	}
	change.Old = f.shown(ctx, here.Path)
	switch {
	case len(entry.Records) > 1 && change.Exists: // it comes back from its other name
		change.New = f.shown(ctx, entry.Records[1].Path)
	case here.Editor != nil && change.Exists:
		change.New = f.kept(here.Editor.Buffer)
	case here.Before.Form == journal.File:
		change.New = f.kept(here.Before.Content)
	}
	return change
}

// shown is a file's text as the person sees it; nil when there is none.
func (f files) shown(ctx context.Context, path string) *string {
	text, err := f.ReadText(ctx, path)
	if err != nil || !text.Exists {
		return nil
	}
	return &text.Content
}

// kept is a pre-image as text; nil when it is none.
func (f files) kept(c journal.Content) *string {
	var b strings.Builder
	if c.Size > f.w.o.Limits.FileBytes || f.w.journal.CopyTo(&b, c) != nil || !isText(b.String()) {
		return nil
	}
	text := b.String()
	return &text
}

func inverse(kind journal.Kind) journal.Kind {
	switch kind {
	case journal.Created:
		return journal.Deleted
	case journal.Deleted:
		return journal.Created
	}
	return journal.Modified
}

func nothingError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Message: "nothing to undo for " + path,
		Hint: "only what this session's file tools changed can be taken back, not what a command or the user changed",
	}
}

// othersError refuses to take back another agent's change.
func othersError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path,
		Message: "the last change of " + path + " was made by another agent; nothing was undone",
		Hint:    "you can take back what you, or an agent that you delegated to, changed; otherwise make the change you want with edit",
	}
}

// sinceError refuses to take back a change over another one (traps 34 and 35).
func sinceError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Err: tools.ErrChanged,
		Message: path + " was changed since; nothing was undone",
		Hint:    "read the file, and make the change you want with edit",
	}
}

func (f files) lostError(entry *journal.Entry) *tools.Error {
	path := entry.Records[0].Path
	return &tools.Error{
		Kind: tools.Unavailable, Path: path, Err: errors.ErrUnsupported,
		Message: fmt.Sprintf("the earlier content of %s is no longer kept: a session keeps at most %d MiB of it; nothing was undone",
			path, f.w.journal.MaxBytes()>>20),
	}
}

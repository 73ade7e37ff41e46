package undo

import (
	"context"
	"io/fs"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// Files makes the changes that take others back, in the session's directories. Paths are
// resolved: a path that leads elsewhere by now is refused with [ChangedSince], and so is a
// file that is not the one that was looked at. operation is the one whose change is taken
// back; directories that it made for its files go with them.
type Files interface {
	// Standing tells what stands at a path.
	Standing(ctx context.Context, path string) (Standing, error)
	// Remove removes a file that still is then.
	Remove(ctx context.Context, operation, path string, then fs.FileInfo) error
	// Put puts back what stood at the path of a record, the way that the change went:
	// through the editor or to the disk. now is what it replaces, nil for nothing.
	Put(ctx context.Context, operation string, r *journal.Record, now fs.FileInfo) error
	// Move moves a file that still is then.
	Move(ctx context.Context, operation, from, to string, then fs.FileInfo) error
	// ReadText returns a text as the user sees it.
	ReadText(ctx context.Context, path string) (tools.Text, error)
}

// takeBack makes one change undone, if the file still is what the change left. Doing it
// twice does no more than doing it once.
func (h *History) takeBack(ctx context.Context, files Files, entry *journal.Entry) error {
	now, err := standings(ctx, files, entry)
	if err != nil || now[0].done {
		return err
	}
	if entry.Lost() {
		return h.lostError(entry)
	}
	r := &entry.Records[0]
	switch {
	case len(entry.Records) > 1:
		return files.Move(ctx, entry.Operation, entry.Records[1].Path, r.Path, now[1].State.Info)
	case r.Before.Form == journal.Absent:
		return files.Remove(ctx, entry.Operation, r.Path, now[0].State.Info)
	}
	return files.Put(ctx, entry.Operation, r, now[0].State.Info)
}

package workspace

import (
	"context"
	"time"

	"acp-agent/internal/pause"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// confirm checks a write that the editor has confirmed. It looks at the disk first, so that an
// editor that saves is asked nothing more. An editor that keeps the text unsaved returns it when
// it is asked. When there is another text, such as a formatted one, the write counts, and the
// result says so. When nothing has changed, the editor dropped the text, which is an error.
func (c *change) confirm(ctx context.Context, record *journal.Record) error {
	for wait := confirmPause; ; wait *= 2 {
		seen, err := c.writtenNow(ctx, record)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return uncheckedError(c.r.path, err)
		case seen == asWritten:
			return nil
		case seen == otherwise:
			c.tell(c.r.path + " now holds another text than the one that was written: the editor changed it, such as by formatting it on saving. Read the file before the next edit.")
			return nil
		case wait > lastConfirmPause:
			record.Editor.Unsaved = false // as far as anything shows
			return droppedError(c.r.path)
		}
		// An editor may answer before it has done what it was asked.
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
	}
}

const (
	confirmPause     = 25 * time.Millisecond
	lastConfirmPause = 200 * time.Millisecond
)

// writeOutcome is what a file was found to hold after a write through the editor.
type writeOutcome int

const (
	asBefore writeOutcome = iota
	asWritten
	otherwise
)

// writtenNow looks once, at the disk and then, if need be, at the buffer.
func (c *change) writtenNow(ctx context.Context, record *journal.Record) (writeOutcome, error) {
	after, err := c.diskNow(ctx)
	if err != nil {
		return otherwise, nil // it is not a text any more, or gone from the session's directories
	}
	record.Editor.Unsaved = !after.exists
	if after.exists && after.disk != c.r.disk {
		record.Editor.Left = append(record.Editor.Left, digestOf(after.disk))
	}
	if after.exists && sameText(after.disk, c.text) {
		c.w.editor.wrote(c.r.real, c.text, after.disk)
		return asWritten, nil
	}
	text, ok, err := c.w.editor.read(ctx, c.r.editor)
	saved := after.exists && (!c.r.exists || after.disk != c.r.disk)
	switch {
	case err != nil && !saved:
		return asBefore, err
	case ok && sameText(text, c.text):
		c.w.editor.wrote(c.r.real, c.text, after.disk)
		return asWritten, nil
	case saved, ok && !sameText(text, c.r.content):
		c.w.editor.wrote(c.r.real, c.text, after.disk)
		return otherwise, nil
	}
	return asBefore, nil
}

func uncheckedError(path string, err error) *tools.Error {
	return &tools.Error{
		Kind: tools.Backend, Path: path, Err: err,
		Message: "the editor answered that it wrote " + path + ", which could not be checked: " + err.Error(),
		Hint:    "read the file before the next edit",
	}
}

// droppedError says that a text is nowhere to be found.
func droppedError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.Backend, Path: path,
		Message: "the editor answered that it wrote " + path + ", but the file and the editor's text of it are what they were before",
		Hint:    "read the file again; if the change is not there, tell the user that the editor did not make it",
	}
}

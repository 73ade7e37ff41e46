package workspace

import (
	"context"
	"errors"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// throughEditor writes a file that is the editor's own.
func (c *change) throughEditor(ctx context.Context) error {
	// An editor may write in place, and so into the file's other names, wherever they
	// are. What takes the name by renaming leaves them their bytes (P7).
	if c.w.editor.writes() && !c.r.linked {
		return c.handOver(ctx)
	}
	if err := c.compareBuffer(ctx, c.r); err != nil {
		return err
	}
	return c.at(ctx, "write", c.r.path, true, c.toDisk)
}

// compareBuffer refuses a write to the disk of what the editor has another text of.
func (c *change) compareBuffer(ctx context.Context, r *reading) error {
	if err := c.view.readEditor(ctx, r); err != nil {
		return err
	}
	switch {
	case c.before != nil && !c.expected(r.exists, r.content):
		return changedError(r.path)
	case r.side == editorSide:
		return &tools.Error{
			Kind: tools.Backend, Path: r.path,
			Message: r.path + " has unsaved changes in the editor, which cannot be written from here",
			Hint:    "ask the user to save the file, then read it again and repeat the change",
		}
	}
	return nil
}

// handOver lets the editor write the text. When it is not known whether it did,
// the change stays on record: it may have to be taken back.
func (c *change) handOver(ctx context.Context) error {
	entry, record, err := c.prepareHandOver(ctx)
	if err != nil {
		return err
	}
	err = c.view.toEditor(ctx, c.r.editor, c.r.real, c.text)
	if err != nil && !errors.Is(err, errNoAnswer) && !errors.Is(err, errStrayed) && ctx.Err() == nil {
		entry.Drop()
		return err
	}
	if err == nil {
		err = c.confirm(ctx, &record)
	}
	entry.Commit(record)
	c.w.leftovers.KeepDirs(record.Path)
	return err
}

// prepareHandOver keeps the pre-image of a write through the editor, and compares the
// file with what the caller read. The comparison comes last, because keeping waits for the disk and
// the editor offers no way to compare and write at once.
func (c *change) prepareHandOver(ctx context.Context) (*journal.Entry, journal.Record, error) {
	if c.before != nil {
		c.r.content = c.before.Content // the editor is asked once, afterwards
	} else if err := c.view.readEditor(ctx, c.r); err != nil {
		return nil, journal.Record{}, err
	}
	for range tries {
		entry := c.newEntry()
		record, err := c.imageEditor(entry)
		var now *reading
		if err == nil {
			now, err = c.reread(ctx)
		}
		if err != nil {
			entry.Drop()
			return nil, journal.Record{}, err
		}
		same := now.exists == c.r.exists && now.disk == c.r.disk && now.content == c.r.content
		c.r = now
		if same {
			return entry, record, nil
		}
		entry.Drop()
	}
	return nil, journal.Record{}, failure("write", c.r.path, errMoved)
}

// reread reads the file as disk and editor have it now, and fails if it is not what the caller
// read.
func (c *change) reread(ctx context.Context) (*reading, error) {
	now, err := c.diskNow(ctx)
	if err == nil {
		err = c.view.readEditor(ctx, now)
	}
	switch {
	case err != nil:
		return nil, err
	case c.before != nil && !c.expected(now.exists, now.content):
		return nil, changedError(now.path)
	case c.ended():
		return nil, endedError(now.path)
	}
	return now, nil
}

// diskNow reads what the disk holds of the file.
func (c *change) diskNow(ctx context.Context) (now *reading, err error) {
	err = c.at(ctx, "read", c.r.path, false, func(p *place) (err error) {
		now, err = c.view.readDisk(p)
		return err
	})
	return now, err
}

// expected reports whether a file is what the caller read.
func (c *change) expected(exists bool, content string) bool {
	return c.before.Exists == exists && c.before.Content == content
}

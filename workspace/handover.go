package workspace

import (
	"context"
	"errors"

	"acp-agent/tools"
	"acp-agent/workspace/journal"
)

// throughEditor writes a file that is the editor's own.
func (c *change) throughEditor(ctx context.Context) error {
	r := c.r
	if err := c.w.readEditor(ctx, r); err != nil {
		return err
	}
	if c.before != nil && !c.expected(r.exists, r.content) {
		return changedError(r.path)
	}
	if !c.w.editor.writes() {
		if r.side == buffer {
			return &tools.Error{
				Kind: tools.Backend, Path: r.path,
				Message: r.path + " has unsaved changes in the editor, which cannot be written from here",
				Hint:    "ask the person to save the file, then read it again and repeat the change",
			}
		}
		return c.at(ctx, "write", r.path, true, c.toDisk)
	}
	if c.ended() {
		return endedError(r.path)
	}
	return c.handOver(ctx)
}

// handOver lets the editor write the text. When it is not known whether it did,
// the change stays on record: it may have to be taken back.
func (c *change) handOver(ctx context.Context) error {
	entry := c.stage()
	record, err := c.imageEditor(entry)
	if err != nil {
		entry.Drop()
		return err
	}
	err = c.w.editor.write(ctx, c.r.editor, c.text)
	if err != nil && !errors.Is(err, errNoAnswer) && ctx.Err() == nil {
		entry.Drop()
		return err
	}
	if err == nil {
		c.noteWrite(ctx, &record)
	}
	entry.Commit(record)
	return err
}

// expected reports whether a file is what the caller read.
func (c *change) expected(exists bool, content string) bool {
	return c.before.Exists == exists && c.before.Content == content
}

// noteWrite looks at the disk after the editor's write, to know later whether
// a command changed the file. Not every editor saves what it is given, and some
// add to it, so what it finds is only remembered.
func (c *change) noteWrite(ctx context.Context, record *journal.Record) {
	var after *reading
	err := c.at(ctx, "read", c.r.path, false, func(p *place) (err error) {
		after, err = c.w.readDisk(p)
		return err
	})
	if err != nil {
		return
	}
	c.w.editor.wrote(c.r.real, c.text, after.disk)
	record.Editor.Unsaved = !after.exists
	if after.exists && after.disk != c.r.disk {
		record.Editor.Left = append(record.Editor.Left, digestOf(after.disk))
	}
}

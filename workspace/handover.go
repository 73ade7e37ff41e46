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
	if err := c.readEditor(ctx, r); err != nil {
		return err
	}
	if c.before != nil && !c.expected(r.exists, r.content) {
		return changedError(r.path)
	}
	// An editor may write in place, and so into the file's other names, wherever they
	// are. What takes the name by renaming leaves them their bytes (P7).
	if !c.w.editor.writes() || r.linked {
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
	err = c.toEditor(ctx, c.r.editor, c.r.real, c.text)
	if err != nil && !errors.Is(err, errNoAnswer) && !errors.Is(err, errStrayed) && ctx.Err() == nil {
		entry.Drop()
		return err
	}
	if err == nil {
		c.noteWrite(ctx, &record)
	}
	entry.Commit(record)
	return err
}

// toEditor hands a text to the editor for a file. An editor knows paths and no
// handles, so where the path leads is looked at before, when nothing is written if it
// is not the file, and again behind the write: then the error says where the text
// went. A link that came and went between the two looks is not seen.
func (c *Call) toEditor(ctx context.Context, path, real, text string) error {
	if _, lands := c.landing(path, real, true); !lands {
		return failure("write", path, errMoved)
	}
	if err := c.w.editor.write(ctx, path, text); err != nil {
		return err
	}
	if where, lands := c.landing(path, real, true); !lands {
		return strayedError(path, real, where)
	}
	return nil
}

// landing is where a path leads that an editor is given, and whether that still is
// the file that was checked, inside what the call may use.
func (c *Call) landing(path, real string, write bool) (where string, lands bool) {
	t, err := c.w.follow(path)
	if err != nil {
		return "", false
	}
	r, _ := pick(c.w.roots(c.id), t, write)
	return t.real(), r != nil && t.real() == real && !c.w.foreign(t, r)
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

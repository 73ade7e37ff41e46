package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"acp-agent/tools"
)

// WriteText replaces a file's text or creates it, parents included. Every text
// is written once: by the editor when the file is its own and it offers both
// reading and writing, else by us.
func (f files) WriteText(ctx context.Context, path, text string, before *tools.Text) error {
	abs := f.w.abs(path)
	switch limit := f.w.o.Limits.FileBytes; {
	case int64(len(text)) > limit:
		return sizeError(abs, int64(len(text)), limit)
	case !isText(text):
		return binaryError(abs)
	}
	change := &change{files: f, text: text, before: before}
	if err := f.at(ctx, "write", path, true, change.prepare(ctx)); err != nil {
		return err
	}
	if change.r != nil && f.w.editor.reads() && change.r.editor != "" {
		return change.throughEditor(ctx)
	}
	return f.at(ctx, "write", path, true, change.toDisk)
}

// change is one write on its way.
type change struct {
	files
	text   string
	before *tools.Text
	// r is the file as it stands; nil when it is no text of an editor's.
	r *reading
}

// prepare refuses what cannot be written, makes the parents of a new file, and
// looks at what is there.
func (c *change) prepare(ctx context.Context) func(*place) error {
	return func(p *place) error {
		if c.w.secret(p.trail) && p.exists() {
			return secretError(p.asked)
		}
		if p.name == "." {
			return notRegular(p.asked, p.root.info)
		}
		if !p.exists() {
			if err := c.makeParents(p); err != nil {
				return err
			}
		}
		if c.w.secret(p.trail) {
			return nil // local, whatever the editor offers
		}
		r, err := c.w.readDisk(p)
		if err == nil {
			c.r = r
			return nil
		}
		if local(err) && c.before == nil && isRegular(p) {
			return nil // a binary or huge file that is written over: local
		}
		return err
	}
}

func isRegular(p *place) bool {
	info, err := p.lstat()
	return err == nil && info.Mode().IsRegular()
}

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
	if err := c.w.editor.write(ctx, r.editor, c.text); err != nil {
		return err
	}
	c.noteWrite(ctx)
	return nil
}

// expected reports whether a file is what the caller read.
func (c *change) expected(exists bool, content string) bool {
	return c.before.Exists == exists && c.before.Content == content
}

// noteWrite looks at the disk after the editor's write, to know later whether
// a command changed the file. Not every editor saves what it is given, and some
// add to it, so what it finds is only remembered.
func (c *change) noteWrite(ctx context.Context) {
	var now string
	err := c.at(ctx, "read", c.r.path, false, func(p *place) error {
		after, err := c.w.readDisk(p)
		if err == nil {
			now = after.disk
		}
		return err
	})
	if err == nil {
		c.w.editor.wrote(c.r.real, c.text, now)
	}
}

// makeParents creates the directories above a new file and moves the place
// down into them.
func (c *change) makeParents(p *place) error {
	for _, name := range p.absent {
		if err := c.w.o.fault("mkdir"); err != nil {
			return err
		}
		if err := p.dir.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return moved(err)
		}
		if err := p.enter(name); err != nil {
			return err
		}
	}
	p.absent = nil
	return nil
}

// toDisk writes the file itself: the new text goes into a temporary file in
// the same directory, which then takes the name (P2). Until then the old bytes
// are untouched, and after it a crash finds the new ones.
func (c *change) toDisk(p *place) error {
	if err := c.makeParents(p); err != nil {
		return err
	}
	var old fs.FileInfo
	if p.exists() {
		info, err := p.lstat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return notRegular(p.asked, info)
		}
		old = info
	}
	temp, err := c.writeTemp(p, old)
	if err != nil {
		return err
	}
	defer temp.discard()
	if c.ended() {
		return endedError(p.asked)
	}
	if err := c.put(p, temp); err != nil {
		return err
	}
	c.settle(p)
	return nil
}

// settle makes the directory's entry durable. The text is in place by now, so
// a file system that cannot do this is no failure of the write.
func (c *change) settle(p *place) {
	if c.w.o.fault("syncdir") == nil {
		_ = syncDir(p.dir)
	}
}

// put gives the temporary file its name, if the file is still what the caller
// read. The moment between looking and renaming is closed where the system can
// exchange two names at once, and create one only if it is not there.
func (c *change) put(p *place, temp *temporary) error {
	if err := c.w.o.fault("rename"); err != nil {
		return err
	}
	switch {
	case c.before == nil:
		return temp.rename(p)
	case !c.before.Exists:
		return temp.create(p)
	}
	return temp.replace(p, c.same)
}

// same reports whether an open file holds what the caller read. Through an
// editor that only reads, that may be the buffer's form of the disk's text.
func (c *change) same(f *os.File) bool {
	want := c.before.Content
	if c.r != nil && c.r.asked {
		want = c.r.disk
	}
	info, err := f.Stat()
	if err != nil || info.Size() != int64(len(want)) {
		return false
	}
	got, err := readAll("", f, int64(len(want)))
	return err == nil && got == want
}

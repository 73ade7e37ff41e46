package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// WriteText replaces a file's text or creates it, parents included. Every text
// is written once: by the editor when the file is its own and it offers both
// reading and writing, else by us.
func (f files) WriteText(ctx context.Context, path, text string, before *tools.Text) error {
	abs := f.w.abs(path)
	switch limit := f.w.o.Limits.FileBytes; {
	case int64(len(text)) > limit:
		return tools.Oversize(abs, int64(len(text)), limit)
	case !isText(text):
		return tools.BinaryRefused(abs)
	}
	change := &change{files: f, text: text, before: before}
	err := f.at(ctx, "write", path, true, change.writeLocally)
	if err == nil && change.editors() {
		err = change.throughEditor(ctx)
	}
	if err != nil && change.parent != "" {
		f.prune(context.WithoutCancel(ctx), change.parent, f.id)
	}
	return err
}

// change is one write on its way.
type change struct {
	files
	text   string
	before *tools.Text
	// r is the file as it stands; nil when it is not text of an editor's.
	r *reading
	// parent is the directory of a file that is new.
	parent string
}

// editors reports whether the file is the editor's to be asked about.
func (c *change) editors() bool {
	return c.r != nil && c.w.editor.reads() && c.r.editor != ""
}

// writeLocally prepares the write and, unless the editor has to be asked first, makes it.
func (c *change) writeLocally(p *place) error {
	if err := c.prepare(p); err != nil || c.editors() {
		return err
	}
	return c.toDisk(p)
}

// prepare refuses what cannot be written, makes the parents of a new file, and
// looks at what is there.
func (c *change) prepare(p *place) error {
	c.r = nil
	if c.w.secret(p.trail) && p.exists() {
		return tools.SecretRefused(p.asked)
	}
	if p.name == "." {
		return notRegular(p.asked, p.root.info)
	}
	if !p.exists() {
		c.parent = p.parentPath()
		if err := c.disk.makeParents(p, c.id, c.w.history.Made); err != nil {
			return err
		}
	}
	if c.w.secret(p.trail) || !c.w.editor.reads() {
		return nil // local, whatever the file holds
	}
	r, err := c.view.readDisk(p)
	if err == nil {
		c.r = r
		return nil
	}
	if notEditorText(err) && c.before == nil && isRegular(p) {
		return nil // a binary or huge file that is written over: local
	}
	return err
}

func isRegular(p *place) bool {
	info, err := p.lstat()
	return err == nil && info.Mode().IsRegular()
}

// toDisk writes the file itself: the new text goes into a temporary file in
// the same directory, which then takes the name (P2). Until then the old bytes
// are untouched, and after it a crash finds the new ones.
func (c *change) toDisk(p *place) error {
	if err := c.disk.makeParents(p, c.id, c.w.history.Made); err != nil {
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
	entry := c.newEntry()
	before, temp, err := c.imageAndWrite(entry, p, old)
	if err != nil {
		entry.Drop()
		return err
	}
	defer temp.discard()
	if err = c.put(p, temp, old); err != nil && !temp.stands(p) {
		entry.Drop()
		return err
	}
	entry.Commit(c.record(p, before, journal.State{
		Form: journal.File, Content: journal.ContentOf(c.text), Info: temp.info,
	}))
	c.w.leftovers.KeepDirs(p.real())
	c.disk.syncEntry(p)
	return err
}

// imageAndWrite makes the pre-image and the new file concurrently: each waits for the disk,
// and neither changes what stands at the place.
func (c *change) imageAndWrite(entry *journal.Entry, p *place, old fs.FileInfo) (journal.State, *temporary, error) {
	if old == nil {
		temp, err := c.disk.writeTemp(p, c.body(nil))
		return journal.State{}, temp, err
	}
	var before journal.State
	var kept error
	var side sync.WaitGroup
	side.Go(func() { before, kept = c.image(entry, p, old) })
	temp, err := c.disk.writeTemp(p, c.body(old))
	side.Wait()
	if kept != nil && err == nil {
		temp.discard()
	}
	if kept != nil {
		err = kept
	}
	return before, temp, err
}

func (c *change) body(old fs.FileInfo) body {
	b := body{write: func(f *os.File) error { _, err := f.WriteString(c.text); return err }}
	if old != nil {
		b.old, b.mode, b.keep = old, old.Mode(), true
	}
	return b
}

// put gives the temporary file its name, if the file is still what the caller
// read; a caller who did not read it writes over what its pre-image was taken
// of. The moment between looking and renaming is closed where the system can
// exchange two names at once, and create one only if it is not there.
func (c *change) put(p *place, temp *temporary, old fs.FileInfo) error {
	if c.ended() {
		return endedError(p.asked)
	}
	if err := c.w.o.fault("rename"); err != nil {
		return err
	}
	var err error
	switch {
	case c.before != nil && c.before.Exists:
		return temp.replace(p, c.same)
	case c.before != nil:
		return temp.create(p)
	case old == nil:
		err = temp.create(p)
	default:
		err = temp.replace(p, func(f *os.File) bool { return untouched(f, old) })
	}
	if errors.Is(err, tools.ErrChanged) {
		return errMoved // the newer file is looked at, and written over
	}
	return err
}

// untouched reports whether an open file is the one that was looked at, as it
// was then.
func untouched(f *os.File, then fs.FileInfo) bool {
	now, err := f.Stat()
	return err == nil && rootfile.SameMoment(now, then)
}

// onDisk is the text that the disk must hold for the caller to have read what
// it says it read. Through an editor that only reads, the caller read the
// buffer's form of it.
func (c *change) onDisk() string {
	if c.r != nil && c.r.gave {
		return c.r.disk
	}
	return c.before.Content
}

// same reports whether an open file holds what the caller read.
func (c *change) same(f *os.File) bool {
	want := c.onDisk()
	info, err := f.Stat()
	if err != nil || info.Size() != int64(len(want)) {
		return false
	}
	got, err := readAll("", f, int64(len(want)))
	return err == nil && got == want
}

package workspace

import (
	"context"
	"io/fs"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/recovery"
)

// Remove deletes a regular file, or a link and never what it leads to (R96). An
// editor has no way to delete, so the disk's file goes even while the editor has
// it open: before is compared with its buffer, and unsaved work that a caller
// did not read stays in the buffer.
func (f files) Remove(ctx context.Context, path string, before *tools.Text) error {
	r := &removal{files: f, before: before}
	if err := r.compare(ctx, path); err != nil {
		return err
	}
	return f.atName(ctx, "remove", path, r.do)
}

// removal is one deletion on its way.
type removal struct {
	files
	before *tools.Text
	// onDisk is what the disk must hold; nil when that does not matter.
	onDisk *string
}

// compare refuses what the caller did not read, and finds out what the disk must
// hold for that.
func (r *removal) compare(ctx context.Context, path string) error {
	if r.before == nil {
		return nil
	}
	r.onDisk = &r.before.Content
	if !r.w.editor.reads() {
		return nil
	}
	seen, err := r.view.read(ctx, path)
	if err != nil {
		return err
	}
	if seen.exists != r.before.Exists || seen.content != r.before.Content {
		return changedError(seen.path)
	}
	r.onDisk = &seen.disk
	return nil
}

func (r *removal) do(p *place) error {
	info, err := r.look(p)
	if err != nil {
		return err
	}
	entry := r.newEntry()
	was, err := r.image(entry, p, info)
	if err == nil {
		err = r.disk.takeAway(p, info)
	}
	if err != nil {
		entry.Drop()
		return err
	}
	entry.Commit(journal.Record{Path: p.real(), Kind: journal.Deleted, Time: r.w.o.Now(), Before: was})
	r.disk.syncEntry(p)
	return nil
}

// look refuses what is not to be deleted.
func (r *removal) look(p *place) (fs.FileInfo, error) {
	if r.secretName(p) {
		return nil, tools.SecretRefused(p.asked)
	}
	if !p.exists() {
		return nil, fs.ErrNotExist
	}
	info, err := p.dir.Lstat(p.name)
	switch {
	case err != nil:
		return nil, moved(err)
	case p.name == "." || !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return nil, notRegular(p.asked, info)
	}
	return info, nil
}

// secretName reports whether a name is a secret's, or leads to one.
func (f files) secretName(p *place) bool { return f.w.secret(p.trail) || f.Secret(p.asked) }

// image keeps what is about to go, if it is what the caller read.
func (r *removal) image(e *journal.Entry, p *place, info fs.FileInfo) (journal.State, error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := p.dir.Readlink(p.name)
		if err != nil {
			return journal.State{}, moved(err)
		}
		return journal.State{Form: journal.Link, Target: target, Info: info}, nil
	}
	was, err := imageFile(e, p, info)
	if err != nil {
		return was, err
	}
	if r.before != nil && (!r.before.Exists || !was.Kept || was.Content != journal.ContentOf(*r.onDisk)) {
		return was, changedError(p.asked)
	}
	was.Attributes = p.attributes()
	return was, nil
}

// attributes reads the extended attributes of the file at the place.
func (p *place) attributes() []journal.Attribute {
	f, err := p.openFile()
	if err != nil {
		return nil
	}
	defer f.Close()
	return attributesOf(f)
}

// putBack gives what was moved aside its name again, unless the user has saved another
// file under it.
func (t *temporary) putBack(p *place) error { return recovery.PutBack(t.dir, t.name, p.name) }

package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// Rename moves a regular file with its bytes and mode (R96, R127). The disk's
// file moves, so one that has unsaved work in an editor is refused: that would
// stay behind, under the old name.
func (f files) Rename(ctx context.Context, from, to string) error {
	if err := f.allSaved(ctx, from); err != nil {
		return err
	}
	var parent string
	err := f.atName(ctx, "rename", from, func(p *place) error {
		info, err := f.movable(p)
		if err != nil {
			return err
		}
		return f.atName(ctx, "rename", to, func(q *place) error {
			if err := f.free(q); err != nil {
				return err
			}
			parent = q.parentPath()
			if err := f.makeParents(q, f.id, f.w.history.Made); err != nil {
				return err
			}
			return f.rename(p, q, info)
		})
	})
	if err != nil && parent != "" {
		f.prune(context.WithoutCancel(ctx), parent, f.id)
	}
	return err
}

// movable refuses what is not to be moved.
func (f files) movable(p *place) (fs.FileInfo, error) {
	if f.secretName(p) {
		return nil, tools.SecretRefused(p.asked)
	}
	if !p.exists() {
		return nil, fs.ErrNotExist
	}
	info, err := p.dir.Lstat(p.name)
	switch {
	case err != nil:
		return nil, moved(err)
	case p.name == "." || !info.Mode().IsRegular():
		return nil, notRegular(p.asked, info)
	}
	return info, nil
}

// free refuses a new name that something has.
func (f files) free(q *place) error {
	if !q.exists() {
		return nil
	}
	return takenError(q.asked)
}

func takenError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Err: fs.ErrExist,
		Message: path + " already exists; nothing was moved",
	}
}

// rename moves a file and notes both halves: a renaming is taken back by
// renaming, so its bytes are not kept twice.
func (f files) rename(p, q *place, info fs.FileInfo) error {
	state := journal.State{Form: journal.File, Info: info}
	var err error
	if state.Content, state.Unread, err = f.sum(p, info); err != nil {
		return err
	}
	if f.pending(p.real(), state.Content) {
		return unsavedError(p.asked)
	}
	if err := f.moveTo(p, q, info); err != nil {
		return err
	}
	now := f.w.o.Now()
	f.stage().Commit(
		journal.Record{Path: p.real(), Kind: journal.Deleted, Time: now, Before: state},
		journal.Record{Path: q.real(), Kind: journal.Created, Time: now, After: state},
	)
	f.w.leftovers.KeepDirs(q.real())
	f.settle(p)
	f.settle(q)
	return nil
}

// allSaved refuses a file whose text the editor has not saved.
func (f files) allSaved(ctx context.Context, path string) error {
	if !f.w.editor.reads() {
		return nil
	}
	r, err := f.read(ctx, path)
	switch {
	case err != nil && local(err) && (r == nil || !r.asked):
		return nil // no text of the editor's, or refused for what it is
	case err != nil:
		return err
	case r.gave && r.side == buffer:
		return unsavedError(r.path)
	}
	return nil
}

// pending reports whether the last change of a file was handed to the editor
// by this operation and has not reached the disk. An editor need not say so: it
// may answer with what the disk has.
func (f files) pending(real string, onDisk journal.Content) bool {
	entry := f.w.history.Last(real)
	if entry == nil || entry.Operation != f.id {
		return false
	}
	return slices.ContainsFunc(entry.Records, func(r journal.Record) bool {
		return r.Path == real && r.Editor != nil && r.Before.Form == journal.File &&
			onDisk == r.Before.Content && onDisk != r.After.Content
	})
}

func unsavedError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.Backend, Path: path,
		Message: path + " has changes that the editor has not saved; nothing was moved",
		Hint:    "make the changes under the old name, ask the person to save the file, and move it then",
	}
}

// sum names the bytes of a file as it stands; unread says that they are too
// many.
func (f files) sum(p *place, then fs.FileInfo) (c journal.Content, unread bool, err error) {
	if then.Size() > f.w.history.MaxBytes() {
		return journal.Content{Size: then.Size()}, true, nil
	}
	file, err := p.openFile()
	if err != nil {
		return journal.Content{}, false, err
	}
	defer file.Close()
	if c, err = journal.Sum(file); err != nil {
		return c, false, err
	}
	if !untouched(file, then) {
		return c, false, errMoved
	}
	return c, false, nil
}

// moveTo gives the file at p the place q, which is free, if it still is the one
// that was looked at.
func (f files) moveTo(p, q *place, then fs.FileInfo) error {
	if f.ended() {
		return endedError(p.asked)
	}
	if err := f.w.o.fault("rename"); err != nil {
		return err
	}
	err := rootfile.RenameNew(p.dir, p.name, q.dir, q.name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return takenError(q.asked)
	case errors.Is(err, errors.ErrUnsupported):
		return f.copyTo(p, q, then)
	case err != nil:
		return moved(err)
	}
	now, err := q.dir.Lstat(q.name)
	if err == nil && rootfile.SameMoment(now, then) {
		return nil
	}
	return errors.Join(errMoved, rootfile.RenameNew(q.dir, q.name, p.dir, p.name))
}

// copyTo is moveTo between file systems, and where the system cannot rename
// without writing over: a copy takes the place, then the file goes.
func (f files) copyTo(p, q *place, then fs.FileInfo) error {
	from, err := p.openFile()
	if err != nil {
		return err
	}
	defer from.Close()
	copied, err := f.writeTemp(q, body{
		write: func(to *os.File) error { _, err := to.ReadFrom(from); return err },
		old:   then, mode: then.Mode(), attributes: attributesOf(from),
	})
	if err != nil {
		return err
	}
	defer copied.discard()
	if err := copied.create(q); err != nil {
		if errors.Is(err, tools.ErrChanged) {
			return takenError(q.asked)
		}
		return err
	}
	if err := f.takeAway(p, then); err != nil {
		return errors.Join(err, f.takeAway(q, copied.info))
	}
	return nil
}

package workspace

import (
	"context"
	"io/fs"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// Rename moves a regular file with its bytes and mode (R96, R127). The disk's
// file moves, so one that has unsaved work in an editor is refused: that would
// stay behind, under the old name.
func (f files) Rename(ctx context.Context, from, to string) error {
	if err := f.view.allSaved(ctx, from); err != nil {
		return err
	}
	var parent string
	err := f.atName(ctx, "rename", from, func(p *place) error {
		info, err := f.movable(p)
		if err != nil {
			return err
		}
		return f.atName(ctx, "rename", to, func(q *place) error {
			if err := checkFree(q); err != nil {
				return err
			}
			parent = q.parentPath()
			if err := f.disk.makeParents(q, f.id, f.w.history.Made); err != nil {
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

// movable describes the file at a place, and refuses one that is not to be moved.
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
	if state.Content, state.Unread, err = sum(p, info, f.w.history.MaxBytes()); err != nil {
		return err
	}
	if f.view.pending(p.real(), state.Content) {
		return unsavedError(p.asked)
	}
	if err := f.disk.moveTo(p, q, info); err != nil {
		return err
	}
	now := f.w.o.Now()
	f.newEntry().Commit(
		journal.Record{Path: p.real(), Kind: journal.Deleted, Time: now, Before: state},
		journal.Record{Path: q.real(), Kind: journal.Created, Time: now, After: state},
	)
	f.w.leftovers.KeepDirs(q.real())
	f.disk.syncEntry(p)
	f.disk.syncEntry(q)
	return nil
}

func unsavedError(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.Backend, Path: path,
		Message: path + " has changes that the editor has not saved; nothing was moved",
		Hint:    "make the changes under the old name, ask the user to save the file, and move it then",
	}
}

// checkFree refuses a new name that is taken.
func checkFree(q *place) error {
	if !q.exists() {
		return nil
	}
	return takenError(q.asked)
}

// sum names the bytes of a file as it stands; unread says that they are more
// than limit.
func sum(p *place, then fs.FileInfo, limit int64) (c journal.Content, unread bool, err error) {
	if then.Size() > limit {
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

package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/recovery"
	"acp-agent/workspace/undo/timeline"
)

// newBody is the new file of a part.
func newBody(p *reverted, bytes *timeline.Reader) body {
	b := body{
		write:    func(file *os.File) error { return bytes.CopyTo(file, p.To.Sum) },
		unsynced: true,
	}
	if p.From.State.Form == timeline.File {
		b.old, b.mode, b.keep = p.From.Info, p.To.Mode, true
		if p.To.Mode == 0 {
			b.mode = p.From.Info.Mode()
		}
		return b
	}
	write := b.write
	b.write = func(file *os.File) error {
		if err := write(file); err != nil || p.To.Mode == 0 {
			return err
		}
		return file.Chmod(p.To.Mode)
	}
	return b
}

// edit hands a text to the editor.
func (r *reverting) edit(ctx context.Context, p *reverted) error {
	if p.text == nil {
		return nil
	}
	editor := ""
	if err := r.at(ctx, p, func(at *place) error { editor = at.root.spelled(at.rel); return nil }); err != nil {
		return err
	}
	// The user may have been asked in between, and have gone on typing.
	if now, err := r.view.read(ctx, p.Path); err != nil {
		return err
	} else if now.content != *p.From.Text {
		return undo.ChangedSince(p.Path)
	}
	if err := r.view.toEditor(ctx, editor, p.Path, *p.text); err != nil {
		return err
	}
	r.done = append(r.done, func(ctx context.Context) error { return r.view.toEditor(ctx, editor, p.Path, *p.From.Text) })
	now, err := r.diskText(ctx, p.Path)
	if err == nil {
		r.w.editor.wrote(p.Path, *p.text, now)
		p.To.Seen = append(p.To.Seen, timeline.SumOf(digestOf(now)))
	}
	p.To.Editor, p.To.Seen = true, append(p.To.Seen, timeline.SumOf(digestOf(*p.text)))
	return nil
}

// takeAway moves aside a file or link in whose place nothing comes, or a directory.
func (r *reverting) takeAway(ctx context.Context, p *reverted) error {
	if p.temp == "" || !p.wasNode() || p.isNode() {
		return nil
	}
	return r.at(ctx, p, func(at *place) error {
		if !at.exists() || !p.isFound(at, at.name) {
			return undo.ChangedSince(p.Path)
		}
		aside := &temporary{dir: at.dir, name: p.temp}
		if err := r.disk.moveAside(at, aside, p.From.Info); err != nil {
			if errors.Is(err, errMoved) {
				return undo.ChangedSince(p.Path)
			}
			return err
		}
		p.aside = true
		r.done = append(r.done, func(ctx context.Context) error {
			p.aside = false
			return r.at(ctx, p, func(at *place) error { return recovery.PutBack(at.dir, p.temp, at.name) })
		})
		return nil
	})
}

// put makes a directory, or gives a new file or link its place.
func (r *reverting) put(ctx context.Context, p *reverted) error {
	switch {
	case p.To.Form == timeline.Dir && p.From.State.Form != timeline.Dir:
		return r.at(ctx, p, func(at *place) error { return r.makeDir(at, p) })
	case p.temp == "" || !p.isNode():
		return nil
	}
	return r.at(ctx, p, func(at *place) error {
		if err := r.disk.makeParents(at, "", r.madeParent); err != nil {
			return err
		}
		if err := r.ready(at, p); err != nil {
			return err
		}
		return r.swap(at, p)
	})
}

func (r *reverting) makeDir(at *place, p *reverted) error {
	if err := r.disk.makeParents(at, "", r.madeParent); err != nil {
		return err
	}
	if err := r.disk.fault("mkdir"); err != nil {
		return err
	}
	if err := at.dir.Mkdir(at.name, 0o777); err != nil {
		return moved(err)
	}
	r.madeParent(p.Path, "", nil)
	return nil
}

// madeParent notes that a directory was made.
func (r *reverting) madeParent(dir, _ string, _ fs.FileInfo) {
	r.done = append(r.done, func(ctx context.Context) error {
		return r.atName(ctx, "undo", dir, func(at *place) error { return at.dir.Remove(at.name) })
	})
}

// ready makes the new file, if it is not there yet, or the new link.
func (r *reverting) ready(at *place, p *reverted) error {
	if r.ended() {
		return endedError(p.Path)
	}
	if p.To.Form == timeline.Link {
		if err := r.disk.fault("link"); err != nil {
			return err
		}
		r.removeNew(p)
		return at.dir.Symlink(p.To.Target, p.temp)
	}
	if p.info != nil {
		return nil
	}
	r.removeNew(p)
	if err := r.write(at, p); err != nil {
		return err
	}
	return r.syncTemp(at, p)
}

// removeNew has a rollback remove what is about to be made, before the directory that was made for
// it.
func (r *reverting) removeNew(p *reverted) {
	r.done = append(r.done, func(ctx context.Context) error {
		err := r.at(ctx, p, func(at *place) error { return at.dir.Remove(p.temp) })
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// swap exchanges what is under the temporary name and what stands in the place.
func (r *reverting) swap(at *place, p *reverted) error {
	if err := r.disk.fault("rename"); err != nil {
		return err
	}
	if p.From.State.Form == timeline.Absent {
		err := (&temporary{dir: at.dir, name: p.temp}).claim(at)
		if err == nil {
			r.done = append(r.done, func(ctx context.Context) error {
				return r.at(ctx, p, func(at *place) error { return at.dir.Remove(at.name) })
			})
		}
		return err
	}
	if p.From.State.Form == timeline.Dir {
		if holdsOthers(at.dir, at.name) {
			return errors.New("the directory that stands there holds other files")
		}
	} else if !p.isFound(at, at.name) {
		return undo.ChangedSince(p.Path)
	}
	exchange := func(at *place) error {
		err := rootfile.Exchange(at.dir, p.temp, at.name)
		if errors.Is(err, errors.ErrUnsupported) && p.From.State.Form != timeline.Dir {
			return at.dir.Rename(p.temp, at.name)
		}
		return err
	}
	if err := exchange(at); err != nil {
		return moved(err)
	}
	if p.From.State.Form != timeline.Dir && !p.isFound(at, p.temp) {
		return errors.Join(undo.ChangedSince(p.Path), exchange(at)) // someone saved at this moment
	}
	p.aside = true
	r.done = append(r.done, func(ctx context.Context) error {
		p.aside = false
		return r.at(ctx, p, exchange)
	})
	return nil
}

// claim gives a new file or link its name, if nothing has it.
func (t *temporary) claim(p *place) error {
	err := rootfile.RenameNew(p.dir, t.name, p.dir, p.name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return undo.ChangedSince(p.asked)
	case errors.Is(err, errors.ErrUnsupported):
		return t.create(p)
	}
	return err
}

// holdsOthers reports whether a directory holds more than files that were moved aside, at any
// depth.
func holdsOthers(dir *os.Root, name string) bool {
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return true
	}
	defer sub.Close()
	entries, err := fs.ReadDir(sub.FS(), ".")
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		if e.IsDir() {
			return holdsOthers(sub, e.Name())
		}
		return !recovery.IsTempName(e.Name())
	})
}

// setFileMode sets the permissions of a file that keeps its bytes, or that the editor wrote.
func (r *reverting) setFileMode(ctx context.Context, p *reverted) error {
	if p.To.Form != timeline.File || p.temp != "" || p.To.Mode == 0 || p.To.Mode == p.From.State.Mode {
		return nil
	}
	return r.setMode(ctx, p, p.From.State.Mode)
}

// setDirMode sets the permissions of a directory, whose own files are in it by now.
func (r *reverting) setDirMode(ctx context.Context, p *reverted) error {
	if p.To.Form != timeline.Dir || p.To.Mode == 0 || p.From.State.Form == timeline.Dir && p.To.Mode == p.From.State.Mode {
		return nil
	}
	return r.setMode(ctx, p, p.From.State.Mode)
}

// setMode sets permissions, which a rollback sets to those before, if there were any.
func (r *reverting) setMode(ctx context.Context, p *reverted, before fs.FileMode) error {
	set := func(ctx context.Context, mode fs.FileMode) error {
		return r.at(ctx, p, func(at *place) error {
			if err := r.disk.fault("chmod"); err != nil {
				return err
			}
			if info, err := at.dir.Lstat(at.name); err != nil || info.Mode()&fs.ModeSymlink != 0 {
				return undo.ChangedSince(p.Path)
			}
			return at.dir.Chmod(at.name, mode)
		})
	}
	if err := set(ctx, p.To.Mode); err != nil {
		return err
	}
	if before != 0 && p.From.State.Form == p.To.Form {
		r.done = append(r.done, func(ctx context.Context) error { return set(ctx, before) })
	}
	return nil
}

// syncEntries makes the names durable.
func (r *reverting) syncEntries(ctx context.Context) {
	synced := map[string]bool{}
	for _, p := range r.parts {
		if dir := filepath.Dir(p.Path); p.temp != "" && !synced[dir] {
			synced[dir] = true
			_ = r.at(ctx, p, func(at *place) error { r.disk.syncEntry(at); return nil }) // as in disk.settle
		}
		r.w.leftovers.KeepDirs(p.Path)
	}
}

// discard removes temporary names: the old files when all was done, else the new ones. Then
// directories go that are not to be there, if they are empty.
func (r *reverting) discard(done bool) {
	ctx := context.Background()
	for _, p := range r.parts {
		if p.temp != "" && (p.aside || p.info != nil || p.To.Form == timeline.Link) && (!done || p.From.State.Form != timeline.Dir) {
			_ = r.atName(ctx, "undo", p.Path, func(at *place) error { return at.dir.Remove(p.temp) }) // what stays is swept later
		}
	}
	if !done {
		return
	}
	for _, p := range slices.Backward(r.parts) {
		switch {
		case p.From.State.Form != timeline.Dir:
		case p.aside:
			_ = r.at(ctx, p, func(at *place) error { return at.dir.RemoveAll(p.temp) })
		case p.To.Form == timeline.Absent:
			err := r.atName(ctx, "undo", p.Path, func(at *place) error {
				if !at.exists() || at.real() != p.Path {
					return nil // it went with one above it
				}
				return at.dir.Remove(at.name)
			})
			p.Kept = err != nil && !errors.Is(err, errNotDir)
		}
	}
}

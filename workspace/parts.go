package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/recovery"
)

// writing is a text on its way, as a part of a batch.
type writing struct {
	*change
	path string
	// handed says that the editor writes the text.
	handed bool

	p     *place
	old   fs.FileInfo
	entry *journal.Entry
	was   journal.State
	temp  *temporary
	done  bool
}

func (w *writing) stage(ctx context.Context, then func() error) error {
	abs := w.w.abs(w.path)
	switch limit := w.w.o.Limits.FileBytes; {
	case int64(len(w.text)) > limit:
		return tools.Oversize(abs, int64(len(w.text)), limit)
	case !isText(w.text):
		return tools.BinaryRefused(abs)
	}
	err := w.at(ctx, "write", w.path, true, func(p *place) error {
		if err := w.prepare(p); err != nil || w.editors() {
			return err
		}
		return w.prepareDisk(p, then)
	})
	if err == nil && w.editors() {
		err = w.stageEditor(ctx, then)
	}
	if err != nil && w.parent != "" {
		w.prune(context.WithoutCancel(ctx), w.parent, w.id)
	}
	return err
}

// stageEditor prepares a file that the editor has a part in. The pre-image that is kept
// here is found again when the text is handed over, which needs no room then.
func (w *writing) stageEditor(ctx context.Context, then func() error) error {
	if !w.w.editor.writes() || w.r.linked {
		if err := w.compareBuffer(ctx, w.r); err != nil {
			return err
		}
		return w.at(ctx, "write", w.path, true, func(p *place) error { return w.prepareDisk(p, then) })
	}
	entry, _, err := w.change.prepareHandOver(ctx)
	if err != nil {
		return err
	}
	defer entry.Drop()
	w.handed = true
	return then()
}

// prepareDisk makes the pre-image and the new file, and calls then while they stand.
func (w *writing) prepareDisk(p *place, then func() error) error {
	if err := w.disk.makeParents(p, w.id, w.w.history.Made); err != nil {
		return err
	}
	w.p, w.old = p, nil
	if p.exists() {
		info, err := p.lstat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return notRegular(p.asked, info)
		}
		w.old = info
	}
	w.entry = w.change.newEntry()
	var err error
	if w.was, w.temp, err = w.imageAndWrite(w.entry, p, w.old); err != nil {
		w.entry.Drop()
		return err
	}
	defer w.temp.discard()
	if err = then(); !w.done {
		w.entry.Drop()
	}
	return err
}

func (w *writing) plan() recovery.Step {
	kind := recovery.Replace
	if w.old == nil {
		kind = recovery.Create
	}
	return recovery.Step{Kind: kind, Path: w.p.real(), Temp: siblingOf(w.p, w.temp.name), New: journal.ContentOf(w.text).Sum}
}

func (w *writing) do(context.Context) error { return w.put(w.p, w.temp, w.old) }

// undo exchanges the files once more, or removes the new one.
func (w *writing) undo() error {
	if !w.temp.stands(w.p) {
		return errMoved // the user's by now
	}
	if w.old == nil {
		return w.p.dir.Remove(w.p.name)
	}
	if kept, err := w.p.dir.Lstat(w.temp.name); err != nil || !os.SameFile(kept, w.old) {
		return errors.Join(errMoved, err) // it could not be exchanged
	}
	return rootfile.Exchange(w.p.dir, w.temp.name, w.p.name)
}

func (w *writing) commit() {
	w.done = true
	w.w.leftovers.KeepDirs(w.p.real())
	w.entry.Commit(w.record(w.p, w.was, journal.State{
		Form: journal.File, Content: journal.ContentOf(w.text), Info: w.temp.info,
	}))
}

func (w *writing) sync() { w.disk.syncEntry(w.p) }

// removing is a deletion, as a part of a batch.
type removing struct {
	*removal
	path string

	p     *place
	info  fs.FileInfo
	entry *journal.Entry
	was   journal.State
	aside *temporary
	done  bool
}

func (r *removing) stage(ctx context.Context, then func() error) error {
	if err := r.compare(ctx, r.path); err != nil {
		return err
	}
	return r.atName(ctx, "remove", r.path, func(p *place) error {
		info, err := r.look(p)
		if err != nil {
			return err
		}
		r.p, r.info, r.entry = p, info, r.removal.newEntry()
		if r.was, err = r.image(r.entry, p, info); err == nil {
			r.aside = r.disk.newTemp(p)
			err = then()
		}
		if !r.done {
			r.entry.Drop()
		}
		return err
	})
}

func (r *removing) plan() recovery.Step {
	return recovery.Step{Kind: recovery.Remove, Path: r.p.real(), Temp: siblingOf(r.p, r.aside.name)}
}

func (r *removing) do(context.Context) error { return r.disk.moveAside(r.p, r.aside, r.info) }

func (r *removing) undo() error { return r.aside.putBack(r.p) }

func (r *removing) commit() {
	r.done = true
	r.aside.discard()
	r.entry.Commit(journal.Record{Path: r.p.real(), Kind: journal.Deleted, Time: r.w.o.Now(), Before: r.was})
}

func (r *removing) sync() { r.disk.syncEntry(r.p) }

// renaming is a renaming, as a part of a batch.
type renaming struct {
	files
	from, to string

	p, q  *place
	info  fs.FileInfo
	state journal.State
}

func (r *renaming) stage(ctx context.Context, then func() error) error {
	if err := r.view.allSaved(ctx, r.from); err != nil {
		return err
	}
	var parent string
	err := r.atName(ctx, "rename", r.from, func(p *place) error {
		if _, err := r.movable(p); err != nil {
			return err
		}
		return r.atName(ctx, "rename", r.to, func(q *place) error {
			if err := checkFree(q); err != nil {
				return err
			}
			parent = q.parentPath()
			if err := r.disk.makeParents(q, r.id, r.w.history.Made); err != nil {
				return err
			}
			r.p, r.q = p, q
			return then()
		})
	})
	if err != nil && parent != "" {
		r.prune(context.WithoutCancel(ctx), parent, r.id)
	}
	return err
}

func (r *renaming) plan() recovery.Step {
	return recovery.Step{Kind: recovery.Rename, Path: r.p.real(), To: r.q.real()}
}

// do looks at the file again, because parts before it may have changed it.
func (r *renaming) do(ctx context.Context) error {
	if err := r.view.allSaved(ctx, r.from); err != nil {
		return err
	}
	info, err := r.movable(r.p)
	if err != nil {
		return err
	}
	r.info, r.state = info, journal.State{Form: journal.File, Info: info}
	if r.state.Content, r.state.Unread, err = sum(r.p, info, r.w.history.MaxBytes()); err != nil {
		return err
	}
	if r.view.pending(r.p.real(), r.state.Content) {
		return unsavedError(r.p.asked)
	}
	return r.disk.moveTo(r.p, r.q, info)
}

func (r *renaming) undo() error {
	if now, err := r.q.dir.Lstat(r.q.name); err != nil || !rootfile.SameMoment(now, r.info) {
		return errors.Join(errMoved, err)
	}
	return rootfile.RenameNew(r.q.dir, r.q.name, r.p.dir, r.p.name)
}

func (r *renaming) commit() {
	r.w.leftovers.KeepDirs(r.q.real())
	now := r.w.o.Now()
	r.files.newEntry().Commit(
		journal.Record{Path: r.p.real(), Kind: journal.Deleted, Time: now, Before: r.state},
		journal.Record{Path: r.q.real(), Kind: journal.Created, Time: now, After: r.state},
	)
}

func (r *renaming) sync() {
	r.disk.syncEntry(r.p)
	if filepath.Dir(r.p.real()) != filepath.Dir(r.q.real()) {
		r.disk.syncEntry(r.q)
	}
}

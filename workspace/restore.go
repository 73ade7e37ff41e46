package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/tools"
	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/journal"
)

// restorer makes the changes that take others back.
type restorer struct{ files }

// Standing implements [undo.Files].
func (f restorer) Standing(ctx context.Context, path string) (undo.Standing, error) {
	var s undo.Standing
	var text *reading
	err := f.atName(ctx, "undo", path, func(p *place) (err error) {
		if p.real() != path {
			return undo.ChangedSince(path) // a link on the way leads elsewhere
		}
		s.State, err = f.stateOf(p)
		if err == nil && s.State.Form == journal.File && p.root.editor && !f.w.secret(p.trail) && f.w.editor.reads() {
			text, err = f.view.readDisk(p)
			if err != nil && notEditorText(err) {
				text, err = nil, nil // no text: the editor has no part in it
			}
		}
		return err
	})
	if err == nil && text != nil {
		err = f.view.readEditor(ctx, text)
	}
	if err == nil && text != nil {
		s.Text = &undo.Text{
			Content: journal.ContentOf(text.content), Seen: digestOf(text.content), Unsaved: text.side == editorSide,
		}
	}
	return s, err
}

// stateOf looks at what stands at a place.
func (f restorer) stateOf(p *place) (s journal.State, err error) {
	if !p.exists() {
		return s, nil
	}
	if s.Info, err = p.dir.Lstat(p.name); err != nil {
		return s, moved(err)
	}
	switch mode := s.Info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		s.Form = journal.Link
		s.Target, err = p.dir.Readlink(p.name)
	case mode.IsRegular():
		s.Form = journal.File
		s.Content, s.Unread, err = sum(p, s.Info, f.w.history.MaxBytes())
	default:
		err = undo.ChangedSince(p.real())
	}
	return s, err
}

// Put implements [undo.Files].
func (f restorer) Put(ctx context.Context, operation string, r *journal.Record, now fs.FileInfo) error {
	switch {
	case r.Editor != nil:
		return f.giveBackText(ctx, r)
	case r.Before.Form == journal.Link:
		return f.relink(ctx, operation, r)
	}
	return f.restore(ctx, operation, r, now)
}

// Remove implements [undo.Files].
func (f restorer) Remove(ctx context.Context, operation, path string, then fs.FileInfo) error {
	err := f.atName(ctx, "undo", path, func(p *place) error {
		if !p.exists() || p.real() != path {
			return undo.ChangedSince(path)
		}
		err := f.disk.takeAway(p, then)
		if errors.Is(err, errMoved) {
			return undo.ChangedSince(path)
		}
		if err == nil {
			f.disk.syncEntry(p)
		}
		return err
	})
	if err == nil {
		f.prune(ctx, filepath.Dir(path), operation)
	}
	return err
}

// giveBackText goes back the way that the change went: through the editor. The
// text is what the user saw, unsaved work included; the disk is never written
// without the editor.
func (f restorer) giveBackText(ctx context.Context, r *journal.Record) error {
	if !f.w.editor.writes() || f.ended() {
		return endedError(r.Path)
	}
	var text strings.Builder
	if err := f.w.history.CopyTo(&text, r.Editor.Buffer); err != nil {
		return err
	}
	if err := f.view.toEditor(ctx, r.Editor.Path, r.Path, text.String()); err != nil {
		return err
	}
	now, err := f.diskText(ctx, r.Path)
	if err == nil {
		f.w.editor.wrote(r.Path, text.String(), now)
	}
	return nil
}

// diskText reads what the disk holds, without the editor.
func (f restorer) diskText(ctx context.Context, path string) (text string, err error) {
	err = f.at(ctx, "read", path, false, func(p *place) error {
		r, err := f.view.readDisk(p)
		if err == nil {
			text = r.disk
		}
		return err
	})
	return text, err
}

// relink makes a link again that was deleted.
func (f restorer) relink(ctx context.Context, operation string, r *journal.Record) error {
	return f.refill(ctx, operation, r.Path, func(p *place) error {
		if err := f.w.o.fault("link"); err != nil {
			return err
		}
		return p.dir.Symlink(r.Before.Target, p.name)
	})
}

// restore puts the bytes and the mode back. A mode that was changed since
// is not ours to take back.
func (f restorer) restore(ctx context.Context, operation string, r *journal.Record, now fs.FileInfo) error {
	b := body{
		write: func(file *os.File) error { return f.w.history.CopyTo(file, r.Before.Content) },
		old:   r.Before.Info, mode: r.Before.Info.Mode(), keep: now != nil, attributes: r.Before.Attributes,
	}
	if now != nil && now.Mode() != r.After.Info.Mode() {
		b.mode = now.Mode()
	}
	return f.refill(ctx, operation, r.Path, func(p *place) error {
		temp, err := f.disk.writeTemp(p, b)
		if err != nil {
			return err
		}
		defer temp.discard()
		if f.ended() {
			return endedError(r.Path)
		}
		if err := f.w.o.fault("rename"); err != nil {
			return err
		}
		if now == nil {
			return temp.create(p)
		}
		return temp.replace(p, func(file *os.File) bool { return untouched(file, now) })
	})
}

// refill puts something in the place of what the change left, making its
// directory again if that is gone.
func (f restorer) refill(ctx context.Context, operation, path string, put func(*place) error) error {
	err := f.atName(ctx, "undo", path, func(p *place) error {
		if p.real() != path {
			return undo.ChangedSince(path)
		}
		if err := f.disk.makeParents(p, operation, f.w.history.Remade); err != nil {
			return err
		}
		err := put(p)
		switch {
		case errors.Is(err, tools.ErrChanged), errors.Is(err, fs.ErrExist):
			return undo.ChangedSince(path)
		case err == nil:
			f.w.leftovers.KeepDirs(p.real())
			f.disk.syncEntry(p)
		}
		return err
	})
	if err != nil {
		f.prune(context.WithoutCancel(ctx), filepath.Dir(path), operation)
	}
	return err
}

// Move implements [undo.Files].
func (f restorer) Move(ctx context.Context, operation, from, to string, then fs.FileInfo) error {
	err := f.atName(ctx, "undo", from, func(p *place) error {
		if !p.exists() || p.real() != from {
			return undo.ChangedSince(from)
		}
		return f.refill(ctx, operation, to, func(q *place) error {
			if err := checkFree(q); err != nil {
				return err
			}
			if err := f.disk.moveTo(p, q, then); err != nil {
				return err
			}
			f.disk.syncEntry(p)
			return nil
		})
	})
	if err == nil {
		f.prune(ctx, filepath.Dir(from), operation)
	}
	return err
}

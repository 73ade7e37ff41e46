package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// takeBack makes one change undone, if the file still is what the change left.
// Doing it twice does no more than doing it once.
func (f files) takeBack(ctx context.Context, entry *journal.Entry) error {
	now, err := f.standings(ctx, entry)
	if err != nil || now[0].done {
		return err
	}
	if entry.Lost() {
		return f.lostError(entry)
	}
	r := &entry.Records[0]
	switch {
	case len(entry.Records) > 1:
		return f.renameBack(ctx, entry, now[1].state.Info)
	case r.Before.Form == journal.Absent:
		return f.uncreate(ctx, entry, now[0].state.Info)
	case r.Editor != nil:
		return f.giveBackText(ctx, r)
	case r.Before.Form == journal.Link:
		return f.relink(ctx, entry)
	}
	return f.restore(ctx, entry, now[0].state.Info)
}

// uncreate removes a file that the change created, and the directories that
// were made for it.
func (f files) uncreate(ctx context.Context, entry *journal.Entry, then fs.FileInfo) error {
	r := &entry.Records[0]
	err := f.atName(ctx, "undo", r.Path, func(p *place) error {
		if !p.exists() || p.real() != r.Path {
			return sinceError(r.Path)
		}
		err := f.takeAway(p, then)
		if errors.Is(err, errMoved) {
			return sinceError(r.Path)
		}
		if err == nil {
			f.settle(p)
		}
		return err
	})
	if err == nil {
		f.prune(ctx, filepath.Dir(r.Path), entry.Operation)
	}
	return err
}

// giveBackText goes back the way that the change went: through the editor. The
// text is what the person saw, unsaved work included; the disk is never written
// behind the editor's back.
func (f files) giveBackText(ctx context.Context, r *journal.Record) error {
	if !f.w.editor.writes() || f.ended() {
		return endedError(r.Path)
	}
	var text strings.Builder
	if err := f.w.journal.CopyTo(&text, r.Editor.Buffer); err != nil {
		return err
	}
	if err := f.toEditor(ctx, r.Editor.Path, r.Path, text.String()); err != nil {
		return err
	}
	now, err := f.diskText(ctx, r.Path)
	if err == nil {
		f.w.editor.wrote(r.Path, text.String(), now)
	}
	return nil
}

// diskText reads what the disk holds, without the editor.
func (f files) diskText(ctx context.Context, path string) (text string, err error) {
	err = f.at(ctx, "read", path, false, func(p *place) error {
		r, err := f.w.readDisk(p)
		if err == nil {
			text = r.disk
		}
		return err
	})
	return text, err
}

// relink makes a link again that was deleted.
func (f files) relink(ctx context.Context, entry *journal.Entry) error {
	return f.refill(ctx, entry, func(p *place) error {
		if err := f.w.o.fault("link"); err != nil {
			return err
		}
		return p.dir.Symlink(entry.Records[0].Before.Target, p.name)
	})
}

// restore puts the bytes and the mode back. A mode that somebody changed since
// is not ours to take back.
func (f files) restore(ctx context.Context, entry *journal.Entry, now fs.FileInfo) error {
	r := &entry.Records[0]
	b := body{
		write: func(file *os.File) error { return f.w.journal.CopyTo(file, r.Before.Content) },
		old:   r.Before.Info, mode: r.Before.Info.Mode(), keep: now != nil, attributes: r.Before.Attributes,
	}
	if now != nil && now.Mode() != r.After.Info.Mode() {
		b.mode = now.Mode()
	}
	return f.refill(ctx, entry, func(p *place) error {
		temp, err := f.writeTemp(p, b)
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
func (f files) refill(ctx context.Context, entry *journal.Entry, put func(*place) error) error {
	r := &entry.Records[0]
	err := f.atName(ctx, "undo", r.Path, func(p *place) error {
		if p.real() != r.Path {
			return sinceError(r.Path)
		}
		if err := f.makeParents(p, entry.Operation, f.w.journal.Remade); err != nil {
			return err
		}
		err := put(p)
		switch {
		case errors.Is(err, tools.ErrChanged), errors.Is(err, fs.ErrExist):
			return sinceError(r.Path)
		case err == nil:
			f.w.leftovers.KeepDirs(p.real())
			f.settle(p)
		}
		return err
	})
	if err != nil {
		f.prune(context.WithoutCancel(ctx), filepath.Dir(r.Path), entry.Operation)
	}
	return err
}

// renameBack moves a file back to its old name.
func (f files) renameBack(ctx context.Context, entry *journal.Entry, then fs.FileInfo) error {
	here := &entry.Records[1]
	err := f.atName(ctx, "undo", here.Path, func(p *place) error {
		if !p.exists() || p.real() != here.Path {
			return sinceError(here.Path)
		}
		return f.refill(ctx, entry, func(q *place) error {
			if err := f.free(q); err != nil {
				return err
			}
			if err := f.moveTo(p, q, then); err != nil {
				return err
			}
			f.settle(p)
			return nil
		})
	})
	if err == nil {
		f.prune(ctx, filepath.Dir(here.Path), entry.Operation)
	}
	return err
}

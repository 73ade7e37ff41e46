package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/timeline"
)

// reverter makes the changes that take a whole turn back (R127, R128).
type reverter struct{ restorer }

// Find implements [undo.Tree].
func (f reverter) Find(ctx context.Context, path string) (found undo.Found, err error) {
	var text *reading
	err = f.atName(ctx, "undo", path, func(p *place) (err error) {
		found, text = undo.Found{}, nil
		if !p.exists() || p.real() != path { // a link on the way hides what stood there
			return nil
		}
		if found, err = f.findAt(p); err != nil || found.State.Form != timeline.File {
			return err
		}
		if p.root.editor && !f.w.secret(p.trail) && f.w.editor.reads() {
			if text, err = f.view.readDisk(p); err != nil && notEditorText(err) {
				text, err = nil, nil // no text: the editor has no part in it
			}
		}
		return err
	})
	if errors.Is(err, errNotDir) {
		return undo.Found{}, nil
	}
	if err == nil && text != nil {
		err = f.findInEditor(ctx, text, &found)
	}
	return found, err
}

// findAt looks at what stands at a place, on disk.
func (f reverter) findAt(p *place) (found undo.Found, err error) {
	if found.Info, err = p.dir.Lstat(p.name); err != nil {
		return found, moved(err)
	}
	mode := found.Info.Mode()
	switch {
	case mode.IsDir():
		found.State = timeline.State{Form: timeline.Dir, Mode: timeline.ModeBits(mode)}
	case mode&fs.ModeSymlink != 0:
		found.State.Form = timeline.Link
		found.State.Target, err = p.dir.Readlink(p.name)
	case mode.IsRegular():
		content, unread, err := sum(p, found.Info, f.w.history.MaxBytes())
		if err != nil {
			return found, err
		}
		found.State = timeline.State{Form: timeline.File, Mode: timeline.ModeBits(mode), Size: found.Info.Size(), Stamp: &timeline.Stamp{
			Time: found.Info.ModTime().UnixNano(), Changed: rootfile.Changed(found.Info).UnixNano(), Inode: rootfile.Inode(found.Info),
		}}
		if !unread {
			found.State.Sum, found.State.Size = timeline.SumOf(content.Sum), content.Size
		}
	default:
		found.State.Form = timeline.Other
	}
	return found, err
}

// findInEditor adds what the user sees of a text.
func (f reverter) findInEditor(ctx context.Context, text *reading, found *undo.Found) error {
	if err := f.view.readEditor(ctx, text); err != nil {
		return err
	}
	found.Text = &text.content
	found.State.Editor, found.State.Seen = true, []timeline.Sum{timeline.SumOf(digestOf(text.content))}
	if text.side != editorSide {
		return nil
	}
	if !f.w.editor.writes() {
		return unsavedError(text.path)
	}
	found.Unsaved = true
	found.State.Sum, found.State.Size = timeline.SumOf(journal.ContentOf(text.content).Sum), int64(len(text.content))
	return nil
}

// Source implements [undo.Tree].
func (f reverter) Source(ctx context.Context, path string, found undo.Found) timeline.Source {
	source := timeline.Source{Sum: found.State.Sum, Size: found.State.Size}
	source.Open = func() (file io.ReadCloser, err error) {
		if found.Unsaved {
			return io.NopCloser(strings.NewReader(*found.Text)), nil
		}
		err = f.atName(ctx, "undo", path, func(p *place) error {
			if !p.exists() || p.real() != path {
				return undo.ChangedSince(path)
			}
			file, err = p.openFile()
			return err
		})
		return file, err
	}
	return source
}

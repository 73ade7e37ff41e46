package workspace

import (
	"context"
	"slices"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// view is the texts of files as the user sees them: the editor's where it has a
// part in a file, else the disk's.
type view struct{ *Call }

// reading is a text file as the disk and, perhaps, the editor have it.
type reading struct {
	path string // as asked, absolute
	real string
	// editor is the path the editor knows, "" when the file is not its own.
	editor string
	exists bool
	// linked says that the file has other names (P7).
	linked bool
	disk   string
	// side says whose text counts; content is that text.
	side    side
	content string
	// asked says that the editor was asked, gave that it gave its text.
	asked, gave bool
}

// read reads the disk first: it says whether the file exists and is text at
// all, and only then the editor is asked for its view (R155).
func (v view) read(ctx context.Context, path string) (*reading, error) {
	if abs := v.w.abs(path); v.w.protection.Secret(abs) {
		return nil, tools.SecretRefused(abs)
	}
	var r *reading
	err := v.at(ctx, "read", path, false, func(p *place) (err error) {
		if v.w.secret(p.trail) {
			return tools.SecretRefused(p.asked)
		}
		v.w.count(TextRead)
		r, err = v.readDisk(p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, v.readEditor(ctx, r)
}

// readDisk reads what stands at a place as text.
func (v view) readDisk(p *place) (*reading, error) {
	r := &reading{path: p.asked, real: p.real(), exists: p.exists()}
	if p.root.editor {
		r.editor = p.root.spelled(p.rel)
	}
	if !r.exists {
		return r, nil
	}
	file, err := p.openFile()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil {
		r.linked = hasOtherNames(info)
	}
	r.disk, err = readAll(p.asked, file, v.w.o.Limits.FileBytes)
	r.content = r.disk
	return r, err
}

// readEditor asks the editor for its text of a file that is its own and exists
// on disk: an empty answer is not taken for an empty file. What it read while the
// path led elsewhere is not used.
func (v view) readEditor(ctx context.Context, r *reading) error {
	if !r.exists || r.editor == "" || !v.w.editor.reads() {
		return nil
	}
	r.asked = true
	text, ok, err := v.w.editor.read(ctx, r.editor)
	if err != nil || !ok {
		return err
	}
	if _, lands := v.landing(r.editor, r.real, false); !lands {
		return failure("read", r.path, errMoved)
	}
	if int64(len(text)) > v.w.o.Limits.FileBytes {
		return tools.Oversize(r.path, int64(len(text)), v.w.o.Limits.FileBytes)
	}
	r.gave = true
	r.side = v.w.editor.judge(r.real, text, r.disk)
	if r.side == editorSide {
		r.content = asOnDisk(text, r.disk)
	}
	return nil
}

// toEditor hands a text to the editor for a file. An editor knows paths and no
// handles, so where the path leads is looked at before, when nothing is written if it
// is not the file, and again after the write: then the error says where the text
// went. A link that came and went between the two looks is not seen.
func (v view) toEditor(ctx context.Context, path, real, text string) error {
	if _, lands := v.landing(path, real, true); !lands {
		return failure("write", path, errMoved)
	}
	if err := v.w.editor.write(ctx, path, text); err != nil {
		return err
	}
	if where, lands := v.landing(path, real, true); !lands {
		return strayedError(path, real, where)
	}
	return nil
}

// allSaved refuses a file whose text the editor has not saved.
func (v view) allSaved(ctx context.Context, path string) error {
	if !v.w.editor.reads() {
		return nil
	}
	r, err := v.read(ctx, path)
	switch {
	case err != nil && notEditorText(err) && (r == nil || !r.asked):
		return nil // no text of the editor's, or refused for what it is
	case err != nil:
		return err
	case r.gave && r.side == editorSide:
		return unsavedError(r.path)
	}
	return nil
}

// pending reports whether the last change of a file was handed to the editor
// by this operation and has not reached the disk. An editor need not say so: it
// may answer with what the disk has.
func (v view) pending(real string, onDisk journal.Content) bool {
	entry := v.w.history.Last(real)
	if entry == nil || entry.Operation != v.id {
		return false
	}
	return slices.ContainsFunc(entry.Records, func(r journal.Record) bool {
		return r.Path == real && r.Editor != nil && r.Before.Form == journal.File &&
			onDisk == r.Before.Content && onDisk != r.After.Content
	})
}

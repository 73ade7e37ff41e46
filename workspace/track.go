package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// Modified lists the files that an operation, which is a call by its id,
// changed: absolute, links followed, sorted (R129). What was taken back since is
// not among them. What agents changed to whom the call delegated, at any depth, is
// (R128).
func (w *Workspace) Modified(operation string) []string { return w.journal.Modified(operation) }

// Changes lists what an operation changed, in order, with what was taken back
// since (R129), and with what agents changed to whom it delegated, at any depth (R128).
func (w *Workspace) Changes(operation string) []journal.Change { return w.journal.Changes(operation) }

// OwnChanges is Changes without those of other calls: what the call has to answer for
// itself in the audit (R129).
func (w *Workspace) OwnChanges(operation string) []journal.Change {
	return w.journal.OwnChanges(operation)
}

// Operations is the audit of the session's changes of files, in the order in
// which the operations began to change them (R129).
func (w *Workspace) Operations() []journal.Operation { return w.journal.Operations() }

// NoteScan adds what a scan found to the changes of the call. It cannot be
// taken back: a scan has no pre-images (R128).
func (c *Call) NoteScan(changes []FileChange) {
	now := c.w.o.Now()
	noted := make([]journal.Change, 0, len(changes))
	left := int64(scanHashed)
	for _, change := range changes {
		noted = append(noted, journal.Change{Path: change.Path, Kind: change.Kind, Time: now, Seen: true, After: c.w.found(change, &left)})
	}
	c.w.journal.Note(c.origin(), noted...)
}

// scanHashed bounds what is read of the files that a scan found, in bytes.
const scanHashed = 8 << 20

// found names the bytes that a change which a scan found has left; nil when they are
// a secret's, or too many. left is what may still be read.
func (w *Workspace) found(change FileChange, left *int64) *journal.Content {
	if change.Kind == journal.Deleted || w.o.Protection.Secret(change.Path) {
		return nil
	}
	for _, r := range w.fixed[:w.session] {
		rel, ok := pathname.Rel(r.path, change.Path)
		if !ok {
			continue
		}
		f, err := r.handle.OpenFile(rel, os.O_RDONLY|rootfile.Nonblock, 0)
		if err != nil {
			return nil
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > *left {
			return nil
		}
		content, err := journal.Sum(io.LimitReader(f, *left))
		if *left -= content.Size; err != nil || *left <= 0 {
			return nil // it grew while it was read
		}
		return &content
	}
	return nil
}

func (c *Call) origin() journal.Origin {
	by := c.w.delegate
	return journal.Origin{
		Operation: c.id, Parent: by.Parent, Tool: c.tool, Session: c.w.o.SessionID, Agent: by.Agent,
	}
}

// stage begins the record of a change.
func (c *Call) stage() *journal.Entry { return c.w.journal.Stage(c.origin()) }

// image keeps what a write will replace (R127): what the caller read, which the
// write proves to be what it takes away, or what stands there.
func (c *change) image(e *journal.Entry, p *place, old fs.FileInfo) (journal.State, error) {
	switch {
	case old == nil:
		return journal.State{}, nil
	case c.before == nil:
		return imageFile(e, p, old)
	case !c.before.Exists:
		return journal.State{}, changedError(p.asked)
	}
	state := journal.State{Form: journal.File, Info: old}
	var err error
	state.Content, state.Kept, err = e.Keep(strings.NewReader(c.onDisk()))
	return state, imageError(p.asked, err)
}

// imageFile keeps a file as it stands.
func imageFile(e *journal.Entry, p *place, old fs.FileInfo) (journal.State, error) {
	f, err := p.openFile()
	if err != nil {
		return journal.State{}, err
	}
	defer f.Close()
	if !untouched(f, old) {
		return journal.State{}, errMoved
	}
	state := journal.State{Form: journal.File, Info: old}
	state.Content, state.Kept, err = e.Keep(f)
	state.Unread = err == nil && !state.Kept
	return state, imageError(p.asked, err)
}

// imageEditor keeps what a write through the editor will replace: the text that
// counts, and the bytes on disk.
func (c *change) imageEditor(e *journal.Entry) (journal.Record, error) {
	r := c.r
	record := journal.Record{
		Path: r.real, Kind: journal.Created, Time: c.w.o.Now(),
		After:  journal.State{Form: journal.File, Content: journal.ContentOf(c.text)},
		Editor: &journal.Editor{Path: r.editor, Left: [][32]byte{digestOf(c.text)}},
	}
	if !r.exists {
		return record, nil
	}
	record.Kind, record.Before.Form = journal.Modified, journal.File
	var err error
	record.Before.Content, record.Before.Kept, err = e.Keep(strings.NewReader(r.disk))
	if err == nil {
		record.Editor.Buffer, record.Editor.Kept, err = e.Keep(strings.NewReader(r.content))
	}
	return record, imageError(r.path, err)
}

// imageError says that a change was not made because what stood there could not
// be kept.
func imageError(path string, err error) error {
	var known *tools.Error
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, journal.ErrOther):
		return errMoved
	}
	return &tools.Error{
		Kind: tools.Backend, Path: path, Err: err,
		Message: path + " was not changed: what it holds could not be kept for an undo: " + reason(err),
	}
}

// record describes a write to the disk.
func (c *change) record(p *place, before, after journal.State) journal.Record {
	kind := journal.Modified
	if before.Form == journal.Absent {
		kind = journal.Created
	}
	return journal.Record{Path: p.real(), Kind: kind, Time: c.w.o.Now(), Before: before, After: after}
}

package workspace

import (
	"errors"
	"io/fs"
	"strings"

	"acp-agent/tools"
	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/journal"
)

// History is what the session's operations changed (R127-R129).
func (w *Workspace) History() *undo.History { return w.history }

// NoteScan adds what a scan found to the changes of the call (R128).
func (c *Call) NoteScan(changes []undo.FileChange) { c.w.history.NoteFound(c.origin(), changes) }

func (c *Call) origin() journal.Origin {
	by := c.w.delegate
	return journal.Origin{
		Operation: c.id, Parent: by.Parent, Tool: c.tool, Session: c.w.o.SessionID, Agent: by.Agent,
	}
}

// newEntry starts the record of a change in the journal.
func (c *Call) newEntry() *journal.Entry { return c.w.history.Stage(c.origin()) }

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
		record.Editor.Saw = digestOf(r.content)
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

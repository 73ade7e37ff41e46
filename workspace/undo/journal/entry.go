package journal

import (
	"io"
	"slices"
	"time"
)

// Origin is who made a change (R129).
type Origin struct {
	// Operation is the id of the call, Tool its tool.
	Operation, Tool string
	// Parent is the call that delegated to the agent whose call it is; empty for a call
	// of the main one. What the operation changed belongs to both (R128).
	Parent string
	// Session and Agent are whose call it is; Agent is empty for the main one.
	Session, Agent string
}

// Kind is what a change did to a path.
type Kind string

// The kinds of changes.
const (
	Created  Kind = "create"
	Modified Kind = "modify"
	Deleted  Kind = "delete"
)

// Record is one change of one path.
type Record struct {
	// Path is absolute, with the links on the way followed.
	Path   string
	Kind   Kind
	Time   time.Time
	Before State
	After  State
	// Editor is set when the change went through the user's editor.
	Editor *Editor
}

// Editor is a change through the user's editor, as its buffer saw it.
type Editor struct {
	// Path is the editor's spelling of the file.
	Path string
	// Buffer is the text that counted before, in the form of the file. Kept says
	// that it is in the journal.
	Buffer Content
	Kept   bool
	// Saw identifies that text as Left does.
	Saw [32]byte
	// Left identifies the texts that the user may see afterwards if the file was
	// not changed since: what was written, and what the editor made of it.
	Left [][32]byte
	// Unsaved says that the disk was not written when we last looked.
	Unsaved bool
}

// Entry is what is taken back as one: the change of a file, or both halves of a
// renaming. It is staged by one goroutine; once it is committed its records are
// only read.
type Entry struct {
	Origin
	Records []Record

	journal *Journal
	kept    []Content // references that are held
	lost    bool
	notes   []*note
}

// Keep stores the bytes of src, durably. kept is false for what is larger than
// the journal; the change may go on, but cannot be taken back. The error is
// ErrOther when src changes while it is read.
func (e *Entry) Keep(src io.ReadSeeker) (c Content, kept bool, err error) {
	j := e.journal
	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return Content{}, false, err
	}
	if size > j.maxBytes {
		return Content{Size: size}, false, nil
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return Content{}, false, err
	}
	if c, err = Sum(src); err != nil {
		return Content{}, false, err
	}
	if err := j.blobs.keep(src, c); err != nil {
		return Content{}, false, err
	}
	e.kept = append(e.kept, c)
	j.makeRoom(e)
	return c, true, nil
}

// Commit notes that the change was made.
func (e *Entry) Commit(records ...Record) {
	e.Records = records
	e.journal.commit(e)
}

// Drop lets go of an entry whose change was not made.
func (e *Entry) Drop() {
	e.journal.mu.Lock()
	defer e.journal.mu.Unlock()
	e.release()
}

// Lost reports whether pre-images had to make room for newer ones, or never
// had any.
func (e *Entry) Lost() bool {
	e.journal.mu.Lock()
	defer e.journal.mu.Unlock()
	return e.lost
}

// touches reports whether the entry changed one of the paths.
func (e *Entry) touches(paths []string) bool {
	return slices.ContainsFunc(e.Records, func(r Record) bool { return slices.Contains(paths, r.Path) })
}

// release gives up the pre-images. The caller holds the journal's mu.
func (e *Entry) release() {
	for _, c := range e.kept {
		e.journal.blobs.release(c)
	}
	e.kept = nil
}

// Paths are the paths that the entry changed.
func (e *Entry) Paths() []string {
	paths := make([]string, len(e.Records))
	for i, r := range e.Records {
		paths[i] = r.Path
	}
	return paths
}

package journal

import (
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// Options are what a Journal is made of.
type Options struct {
	// Dir returns the private directory for pre-images. It is called at each
	// use; the first may create it.
	Dir func() (*os.Root, error)
	// MaxBytes bounds all pre-images together; 0 means 256 MiB.
	MaxBytes int64
	// MaxChanges bounds the changes that are remembered at all; 0 means 10,000.
	MaxChanges int
	// Contents keeps pre-images in place of Dir, beyond the journal's own end; it removes none
	// when they are released. What it cannot keep goes to Dir. nil means Dir alone.
	Contents Contents
	// Observer is told what becomes of files; nil means no one.
	Observer Observer
	// Fault is called before each step that changes the disk ("preimage",
	// "syncimage"), for tests; nil means none.
	Fault func(step string) error
}

// Contents keeps bytes by names. It is safe for concurrent use.
type Contents interface {
	// Put keeps what a reader gives, durably, and names it.
	Put(content io.Reader) (name string, err error)
	// Open returns what a name stands for.
	Open(name string) (io.ReadCloser, error)
}

// Observer follows what the session's tools do to files, in order. Its methods are called
// without locks held, and from several goroutines for different files.
type Observer interface {
	// Changed says that a change was made.
	Changed(records []Record)
	// Reverted says that a change was taken back.
	Reverted(records []Record)
	// MadeDir says that a directory was made for a new file, and RemovedDir that it was removed
	// with the file.
	MadeDir(path string, mode fs.FileMode)
	RemovedDir(path string, mode fs.FileMode)
}

const (
	defaultMaxBytes   = 256 << 20
	defaultMaxChanges = 10_000
)

// Journal is the changes of one session. It is safe for concurrent use.
type Journal struct {
	maxBytes   int64
	maxChanges int
	blobs      blobs
	observer   Observer // nil means none

	mu      sync.Mutex
	entries []*Entry // that can be taken back, oldest first
	log     []*note  // the audit, oldest first
	seq     int
	made    map[string]*madeDir
	parents map[string]string // of operations that delegate, where they have one
}

// New makes an empty journal. It touches no disk.
func New(o Options) *Journal {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxChanges <= 0 {
		o.MaxChanges = defaultMaxChanges
	}
	if o.Fault == nil {
		o.Fault = func(string) error { return nil }
	}
	return &Journal{
		maxBytes: o.MaxBytes, maxChanges: o.MaxChanges,
		blobs: blobs{dir: o.Dir, contents: o.Contents, fault: o.Fault, held: map[Content]*blob{}}, observer: o.Observer,
		made: map[string]*madeDir{}, parents: map[string]string{},
	}
}

// MaxBytes is the bound of all pre-images together.
func (j *Journal) MaxBytes() int64 { return j.maxBytes }

// Stage starts an entry. It is committed or dropped, once.
func (j *Journal) Stage(o Origin) *Entry { return &Entry{Origin: o, journal: j} }

func (j *Journal) commit(e *Entry) {
	if j.observer != nil {
		defer j.observer.Changed(e.Records)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range e.Records {
		if r.Before.Form == File && !r.Before.Kept || r.Editor != nil && r.Before.Form == File && !r.Editor.Kept {
			e.lost = true
		}
		e.notes = append(e.notes, j.note(e.Origin, Change{
			Path: r.Path, Kind: r.Kind, Time: r.Time, Before: r.Before.Named(), After: r.After.Named(),
		}))
	}
	if len(e.Records) > 1 {
		e.lost = false // a renaming is taken back by renaming
	}
	j.entries = append(j.entries, e)
	j.trim()
}

// Last is the newest entry that changed one of the paths; nil when there is
// none. Several paths are several spellings of one file.
func (j *Journal) Last(paths ...string) *Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range slices.Backward(j.entries) {
		if e.touches(paths) {
			return e
		}
	}
	return nil
}

// Of lists the entries of an operation and of those within it, newest first, whichever
// agent made them.
func (j *Journal) Of(operation string) []*Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []*Entry
	for _, e := range slices.Backward(j.entries) {
		if j.within(e.Origin, operation) {
			found = append(found, e)
		}
	}
	return found
}

// TakenBack forgets an entry that was undone: its records leave the stack, its
// pre-images are removed.
func (j *Journal) TakenBack(e *Entry) {
	j.reverted(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.takenBack(e)
}

// Undone is TakenBack, with lines for the audit: which call took the entry back, and what that
// changed.
func (j *Journal) Undone(e *Entry, by Origin, changes ...Change) {
	j.reverted(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.takenBack(e)
	for _, c := range changes {
		c.Undo = true
		j.note(by, c).undid = &e.Origin
	}
	j.trim()
}

// reverted tells the observer while the entry's pre-images are still there.
func (j *Journal) reverted(e *Entry) {
	if j.observer != nil {
		j.observer.Reverted(e.Records)
	}
}

// takenBack is TakenBack. The caller holds mu.
func (j *Journal) takenBack(e *Entry) {
	for _, n := range e.notes {
		n.TakenBack = true
	}
	e.release()
	j.entries = slices.DeleteFunc(j.entries, func(other *Entry) bool { return other == e })
}

// Stored is the name of bytes that Options.Contents keeps; "" when it does not keep them.
func (j *Journal) Stored(c Content) string { return j.blobs.stored(c) }

// Open returns the bytes that c names, unchecked.
func (j *Journal) Open(c Content) (io.ReadCloser, error) { return j.blobs.open(c) }

// CopyTo writes the bytes that c names. The error is ErrOther when the stored
// ones are not those.
func (j *Journal) CopyTo(w io.Writer, c Content) error { return j.blobs.copyTo(w, c) }

// makeRoom lets the oldest operations lose their pre-images until the rest is
// within bounds; staged keeps its own.
func (j *Journal) makeRoom(staged *Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.blobs.size() > j.maxBytes {
		i := slices.IndexFunc(j.entries, func(e *Entry) bool { return len(e.kept) > 0 })
		if i < 0 {
			return
		}
		oldest := j.entries[i]
		for _, e := range j.entries[i:] {
			// Half an operation is worth little; but the running one loses no
			// more than it must.
			if e == oldest || e.Operation == oldest.Operation && e.Operation != staged.Operation {
				e.lose()
			}
		}
	}
}

// lose gives up an entry's pre-images for others. The caller holds mu.
func (e *Entry) lose() {
	e.lost = e.lost || len(e.kept) > 0
	e.release()
}

// trim bounds the audit, and with it the entries. The caller holds mu.
func (j *Journal) trim() {
	if len(j.log) <= j.maxChanges {
		return
	}
	old := j.log[:len(j.log)-j.maxChanges*3/4]
	j.log = slices.Clone(j.log[len(old):])
	first := j.log[0].seq
	j.entries = slices.DeleteFunc(j.entries, func(e *Entry) bool {
		gone := e.notes[0].seq < first
		if gone {
			e.release()
		}
		return gone
	})
}

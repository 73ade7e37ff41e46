package undo

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/snapshot"
	"acp-agent/workspace/undo/timeline"
)

// Options are what a History is made of.
type Options struct {
	// Roots are the session's directories, which Look walks.
	Roots []rootfile.Dir
	// Secret reports whether an absolute path names a secret, whose content is not
	// read; nil means that there are none.
	Secret func(path string) bool
	// Held reports whether a directory, while it is empty, is none of the project's but made for a
	// command that runs; nil means that there are none.
	Held func(dir string) bool
	// Images returns the private directory for pre-images.
	Images func() (*os.Root, error)
	// MaxBytes bounds all pre-images together; 0 means 256 MiB.
	MaxBytes int64
	// MaxText bounds a text that Describe and Undo show; a longer one is left out.
	MaxText int64
	// IsText reports whether a file's content can be shown as text; nil means valid
	// UTF-8.
	IsText func(content string) bool
	// Contents keeps what stood in files beyond the end of the session, and Records what is to be
	// known of it then; nil means that both end with the session, and with its Images.
	Contents timeline.Contents
	Records  timeline.Records
	// Bounds are how far a look before or after a command goes; the zero value means those of
	// package snapshot.
	Bounds snapshot.Bounds
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Fault is the journal's; nil means none.
	Fault func(step string) error
}

// History is what a session's operations changed, and takes it back. It is safe for
// concurrent use.
type History struct {
	*journal.Journal
	o    Options
	line *timeline.Timeline
	tree *snapshot.Tree

	commands commands
}

// New makes an empty history. It touches no disk.
func New(o Options) *History {
	if o.Secret == nil {
		o.Secret = func(string) bool { return false }
	}
	if o.IsText == nil {
		o.IsText = utf8.ValidString
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	h := &History{o: o}
	var outside journal.Contents
	if o.Contents != nil {
		outside = o.Contents
	} else {
		h.o.Contents = &ownContents{dir: o.Images, limit: cmp.Or(max(o.MaxBytes, 0), defaultOwnBytes)}
	}
	h.Journal = journal.New(journal.Options{
		Dir: o.Images, MaxBytes: o.MaxBytes, Contents: outside, Observer: observer{h}, Fault: o.Fault,
	})
	h.line = timeline.New(timeline.Options{Contents: h.o.Contents, Records: o.Records})
	h.tree = snapshot.New(snapshot.Options{Roots: o.Roots, Secret: o.Secret, Held: o.Held, Dir: o.Images, Bounds: o.Bounds})
	return h
}

// Place says where the bytes are kept that a sum names.
func (h *History) Place(sum timeline.Sum) timeline.Kept {
	k, _ := h.line.Place(sum)
	return k
}

// Close lets go of the copies of the session's directories.
func (h *History) Close() { _ = h.tree.Close() }

// Call is the call that takes changes back.
type Call struct {
	// Origin names the call in the audit.
	Origin journal.Origin
	// Files are the files as the call may use them.
	Files Files
	// Lock waits for the locks of resolved paths; nil when the caller holds them.
	Lock func(ctx context.Context, paths []string) (unlock func(), err error)
}

// File names a file whose last change is meant.
type File struct {
	// Path is absolute, as it was asked for.
	Path string
	// Resolved are the paths under which its changes may be recorded: the name
	// itself, when a link changed, and where it leads.
	Resolved []string
	// Secret says that its texts are not shown.
	Secret bool
}

// LastPaths lists the resolved paths that Undo of a file would change.
func (h *History) LastPaths(file File) []string {
	entry := h.Last(file.Resolved...)
	if entry == nil {
		return nil
	}
	return entry.Paths()
}

// Describe describes what Undo would do. It fails when there is nothing to undo, or the file
// was changed since.
func (h *History) Describe(ctx context.Context, by Call, file File) (tools.Change, error) {
	_, change, err := h.last(ctx, by, file)
	return change, err
}

// last finds the last change of a file, and proves that it can be taken back.
func (h *History) last(ctx context.Context, by Call, file File) (*journal.Entry, tools.Change, error) {
	entry := h.Last(file.Resolved...)
	switch {
	case entry == nil:
		return nil, tools.Change{}, nothingError(file.Path)
	case !h.mayUndo(by, entry):
		return nil, tools.Change{}, othersError(file.Path)
	}
	_, err := standings(ctx, by.Files, entry)
	if err == nil && entry.Lost() {
		err = h.lostError(entry)
	}
	if err != nil {
		return nil, tools.Change{}, err
	}
	return entry, h.effect(ctx, by.Files, entry, file), nil
}

// mayUndo reports whether an agent may take a change back by itself: its own, and that
// of an agent that it delegated to. Otherwise what the call changed that delegated to it
// could not be rolled back by what belongs to that call (R128).
func (h *History) mayUndo(by Call, e *journal.Entry) bool {
	return by.Origin.Parent == "" || h.Within(e.Origin, by.Origin.Parent)
}

// Undo takes back the last change of a file. A second one goes one further back: what an
// undo does is reported, but is not a change to be undone itself.
func (h *History) Undo(ctx context.Context, by Call, file File) (tools.Change, error) {
	entry, change, err := h.last(ctx, by, file)
	if err != nil {
		return tools.Change{}, err
	}
	if err := h.takeBack(ctx, by.Files, entry); err != nil {
		return tools.Change{}, err
	}
	undone := make([]journal.Change, 0, len(entry.Records))
	for _, r := range entry.Records {
		undone = append(undone, journal.Change{
			Path: r.Path, Kind: inverse(r.Kind), Time: h.o.Now(), Before: r.After.Named(), After: r.Before.Named(),
		})
	}
	h.Undone(entry, by.Origin, undone...)
	return change, nil
}

// Rollback takes back what an operation changed, and what agents changed to which it
// delegated, at any depth: the newest change first, whichever agent made it (R127, R128).
// What cannot be restored stays as it is and on record, and is returned; the rest is
// restored, and forgotten with its pre-images. A second Rollback tries what is left.
func (h *History) Rollback(ctx context.Context, by Call, operation string) (failed []error) {
	var stuck []string
	for _, entry := range h.Of(operation) {
		paths := entry.Paths()
		if slices.ContainsFunc(paths, func(path string) bool { return slices.Contains(stuck, path) }) {
			stuck = append(stuck, paths...) // what lies below cannot be reached
			continue
		}
		if err := h.lockedTakeBack(ctx, by, entry); err != nil {
			stuck = append(stuck, paths...)
			failed = append(failed, fmt.Errorf("roll back %s: %w", strings.Join(paths, ", "), err))
			continue
		}
		h.TakenBack(entry)
	}
	return failed
}

func (h *History) lockedTakeBack(ctx context.Context, by Call, entry *journal.Entry) error {
	if by.Lock != nil {
		unlock, err := by.Lock(ctx, entry.Paths())
		if err != nil {
			return err
		}
		defer unlock()
	}
	return h.takeBack(ctx, by.Files, entry)
}

func inverse(kind journal.Kind) journal.Kind {
	switch kind {
	case journal.Created:
		return journal.Deleted
	case journal.Deleted:
		return journal.Created
	}
	return journal.Modified
}

package undo

import (
	"io"
	"os"

	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/journal"
)

// NoteFound adds what a scan found to the changes of an operation. It cannot be taken
// back: a scan has no pre-images (R128).
func (h *History) NoteFound(by journal.Origin, changes []FileChange) {
	now := h.o.Now()
	noted := make([]journal.Change, 0, len(changes))
	left := int64(scanHashed)
	for _, change := range changes {
		noted = append(noted, journal.Change{Path: change.Path, Kind: change.Kind, Time: now, Seen: true, After: h.found(change, &left)})
	}
	h.Note(by, noted...)
}

// scanHashed bounds what is read of the files that a scan found, in bytes.
const scanHashed = 8 << 20

// found names the bytes that a change which a scan found has left; nil when they are
// a secret's, or too many. left is what may still be read.
func (h *History) found(change FileChange, left *int64) *journal.Content {
	if change.Kind == journal.Deleted || h.o.Secret(change.Path) {
		return nil
	}
	for _, r := range h.o.Roots {
		rel, ok := pathname.Rel(r.Path, change.Path)
		if !ok {
			continue
		}
		f, err := r.Handle.OpenFile(rel, os.O_RDONLY|rootfile.Nonblock, 0)
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

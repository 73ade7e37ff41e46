package undo

import (
	"context"
	"errors"

	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/timeline"
)

// Tree makes the changes that take a whole turn back, in the session's directories. Paths are
// resolved: one that leads elsewhere by now is an error.
type Tree interface {
	// Find tells what stands at a path.
	Find(ctx context.Context, path string) (Found, error)
	// Source is the bytes of a file that was found.
	Source(ctx context.Context, path string, found Found) timeline.Source
	// Apply makes all steps, which are sorted by path, or none: the error then says why, and of
	// which path. Where an editor has a part in a file, it adds to the step's To what the editor
	// may show.
	Apply(ctx context.Context, steps []*Step, bytes *timeline.Reader) error
}

// Found is what stands at a path.
type Found struct {
	State timeline.State
	// Unsaved says that the editor holds another text, which State is.
	Unsaved bool
	// Text is what the user sees of a file in which the editor has a part; nil for others.
	Text *string
	// Info identifies what is on disk; nil when there is nothing.
	Info fileInfo
}

// Step is one path that is put back.
type Step struct {
	Path string
	From Found
	To   timeline.State
	// Kept says that a directory was not removed, because it holds what is not the session's.
	Kept bool
}

// Left is a path that was not put back, and why.
type Left struct{ Path, Why string }

// Outcome is what became of the files of an undo or a redo.
type Outcome struct {
	// Changed are the paths that were put back, Left the paths that were not.
	Changed []string
	Left    []Left
	// Missed are lines that say where commands may have changed what was not looked at.
	Missed []string
}

// Overwrite asks the user about files that someone else has changed since. false leaves them as
// they are; an error leaves all as it is.
type Overwrite func(ctx context.Context, paths []string) (bool, error)

// ErrNoCheckpoint reports that there is nothing to take back, or to redo.
var ErrNoCheckpoint = errors.New("there is no such checkpoint")

// Begin makes a message of the user a checkpoint: what follows can be taken back to it.
func (h *History) Begin(ctx context.Context, messageID string) {
	h.Settle(ctx)
	h.line.Begin(messageID)
}

// Checkpoint is a message of the user that can be taken back.
type Checkpoint = timeline.Summary

// Checkpoints lists the user's messages, oldest first.
func (h *History) Checkpoints() []Checkpoint { return h.line.Spans() }

// LoadCheckpoints restores those of a session that was stored; see [timeline.Timeline.Load].
func (h *History) LoadCheckpoints(read func(key string, into any) (bool, error), known func(id string) bool) {
	h.line.Load(read, known)
}

// UndoFrom takes back all that happened after message number i of Checkpoints, and marks it and
// those after it as undone. The error says that nothing was changed.
func (h *History) UndoFrom(ctx context.Context, by Call, tree Tree, i int, overwrite Overwrite) (out Outcome, err error) {
	h.Settle(ctx)
	live := 0
	for _, s := range h.line.Spans() {
		if !s.Undone {
			live++
		}
	}
	if i < 0 || i >= live {
		return out, ErrNoCheckpoint
	}
	nets, missed := h.line.Net(i)
	done, kept, out, err := h.revert(ctx, by, tree, nets, overwrite)
	if err != nil {
		return out, err
	}
	out.Missed = missed
	h.line.Undo(timeline.Undone{Spans: live - i, Changes: done, Kept: kept})
	return out, nil
}

// Redo takes the last undo back. first is the number of the first message that counts again. The
// error says that nothing was changed.
func (h *History) Redo(ctx context.Context, by Call, tree Tree, overwrite Overwrite) (first int, out Outcome, err error) {
	h.Settle(ctx)
	undone, first, ok := h.line.LastUndone()
	if !ok {
		return 0, out, ErrNoCheckpoint
	}
	var nets []timeline.Net
	for _, c := range undone.Changes {
		nets = append(nets, timeline.Net{Change: c})
	}
	_, kept, out, err := h.revert(ctx, by, tree, nets, overwrite)
	if err != nil {
		return 0, out, err
	}
	h.line.Redo(kept)
	return first, out, nil
}

// revert puts back what stood at the paths of changes before them. done are the changes that this
// made, each with what it replaced as After and what stands there now as Before, so that reverting
// them is the redo.
func (h *History) revert(ctx context.Context, by Call, tree Tree, nets []timeline.Net, overwrite Overwrite) (done []timeline.Change, kept []timeline.Kept, out Outcome, err error) {
	p := &plan{h: h, tree: tree}
	if by.Lock != nil {
		unlock, err := by.Lock(ctx, pathsOf(nets))
		if err != nil {
			return nil, nil, out, err
		}
		defer unlock()
	}
	if err := p.look(ctx, nets); err != nil {
		return nil, nil, out, err
	}
	if err := p.ask(ctx, overwrite); err != nil {
		return nil, nil, out, err
	}
	if kept, err = p.keep(ctx); err != nil {
		return nil, nil, out, err
	}
	steps := p.steps
	reader := h.line.Reader()
	defer reader.Close()
	if err := tree.Apply(ctx, steps, reader); err != nil {
		return nil, nil, out, err
	}
	for _, s := range steps {
		if s.Kept {
			continue
		}
		done = append(done, timeline.Change{Path: s.Path, Before: s.From.State, After: s.To})
		out.Changed = append(out.Changed, s.Path)
	}
	out.Left = p.left
	h.noteReverted(by.Origin, done)
	return done, kept, out, nil
}

// noteReverted puts what was done into the audit.
func (h *History) noteReverted(by journal.Origin, done []timeline.Change) {
	now := h.o.Now()
	var changes []journal.Change
	for _, c := range done {
		kind := journal.Modified
		switch {
		case c.Before.Form == timeline.Dir || c.After.Form == timeline.Dir:
			continue
		case c.Before.Form == timeline.Absent:
			kind = journal.Created
		case c.After.Form == timeline.Absent:
			kind = journal.Deleted
		}
		changes = append(changes, journal.Change{Path: c.Path, Kind: kind, Time: now, Undo: true})
	}
	h.Note(by, changes...)
}

func pathsOf(nets []timeline.Net) []string {
	paths := make([]string, 0, len(nets))
	for _, n := range nets {
		paths = append(paths, n.Path)
	}
	return paths
}

package undo

import (
	"context"
	"slices"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// Standing is what stands at the path of a change that is to be taken back.
type Standing struct {
	State journal.State
	// Text is what the user sees; nil for a file in which the editor has no part.
	Text *Text

	// done says that it already is what stood there before the change.
	done bool
}

// Text is a file's text as the user sees it.
type Text struct {
	Content journal.Content
	// Seen identifies it as [journal.Editor] Left does.
	Seen [32]byte
	// Unsaved says that it is the editor's, and not on disk.
	Unsaved bool
}

// standings looks at all that an entry changed. The error is that something was
// changed since.
func standings(ctx context.Context, files Files, entry *journal.Entry) ([]Standing, error) {
	var now []Standing
	for i := range entry.Records {
		r := &entry.Records[i]
		s, err := files.Standing(ctx, r.Path)
		if err == nil && r.Editor != nil {
			err = s.compareText(r)
		} else if err == nil {
			err = s.compare(r)
		}
		if err != nil {
			return nil, err
		}
		now = append(now, s)
	}
	if last := now[len(now)-1]; last.done != now[0].done {
		return nil, ChangedSince(entry.Records[0].Path)
	}
	return now, nil
}

// compare compares the disk with what the change left. Unsaved work in the editor is a
// change since as well.
func (s *Standing) compare(r *journal.Record) error {
	switch {
	case s.Text != nil && s.Text.Unsaved:
		return ChangedSince(r.Path)
	case sameState(s.State, r.Before):
		s.done = true
	case !sameState(s.State, r.After):
		return ChangedSince(r.Path)
	}
	return nil
}

func sameState(a, b journal.State) bool {
	switch {
	case a.Form != b.Form:
		return false
	case a.Form == journal.File && (a.Unread || b.Unread):
		return a.Unread == b.Unread && rootfile.SameMoment(a.Info, b.Info)
	}
	return a.Content == b.Content && a.Target == b.Target
}

// compareText is compare for a change through the editor: what counts is the text that
// the user sees.
func (s *Standing) compareText(r *journal.Record) error {
	switch {
	case s.State.Form == journal.Absent && r.Before.Form == journal.Absent && r.Editor.Unsaved:
		return &tools.Error{
			Kind: tools.Backend, Path: r.Path,
			Message: r.Path + " is not on disk, only unsaved in the editor; nothing was undone",
			Hint:    "ask the user to close it without saving",
		}
	case s.State.Form == journal.Absent && r.Before.Form == journal.Absent:
		s.done = true
	case s.Text == nil:
		return ChangedSince(r.Path)
	case r.Before.Form == journal.File && s.Text.Content == r.Editor.Buffer:
		s.done = true
	case !slices.Contains(r.Editor.Left, s.Text.Seen):
		return ChangedSince(r.Path)
	}
	return nil
}

package undo

import (
	"io"
	"io/fs"
	"slices"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/timeline"
)

// observer puts the changes of the session's own tools on the timeline.
type observer struct{ h *History }

var _ journal.Observer = observer{}

// Changed implements [journal.Observer].
func (o observer) Changed(records []journal.Record) {
	if !o.h.line.Started() {
		return
	}
	var g timeline.Group
	for i := range records {
		r := &records[i]
		change := timeline.Change{Path: r.Path, Before: before(r), After: after(r)}
		if change.Before.Form == timeline.File && change.Before.Sum != "" {
			g.Kept = append(g.Kept, o.keep(contentBefore(r), &change.Before)...)
		}
		g.Changes = append(g.Changes, change)
	}
	o.h.line.Add(g)
}

// keep has the timeline keep what the journal keeps. A file that was renamed is not kept: its
// bytes are found under its new name.
func (o observer) keep(c journal.Content, s *timeline.State) []timeline.Kept {
	if k, ok := o.h.line.Place(s.Sum); ok {
		return []timeline.Kept{k}
	}
	if name := o.h.Stored(c); name != "" {
		return []timeline.Kept{{Sum: s.Sum, Size: s.Size, Name: name}}
	}
	kept, err := o.h.line.Keep([]timeline.Source{{
		Sum: s.Sum, Size: s.Size, Open: func() (io.ReadCloser, error) { return o.h.Open(c) },
	}})
	if err != nil {
		return nil // an undo says that the bytes are not kept
	}
	return kept
}

// Reverted implements [journal.Observer].
func (o observer) Reverted(records []journal.Record) {
	var g timeline.Group
	for i := range slices.Backward(records) {
		r := &records[i]
		g.Changes = append(g.Changes, timeline.Change{Path: r.Path, Before: after(r), After: before(r)})
	}
	o.h.line.Add(g)
}

// MadeDir implements [journal.Observer].
func (o observer) MadeDir(path string, mode fs.FileMode) {
	o.h.line.Add(timeline.Group{Changes: []timeline.Change{{Path: path, After: directory(mode)}}})
}

// RemovedDir implements [journal.Observer].
func (o observer) RemovedDir(path string, mode fs.FileMode) {
	o.h.line.Add(timeline.Group{Changes: []timeline.Change{{Path: path, Before: directory(mode)}}})
}

func directory(mode fs.FileMode) timeline.State {
	return timeline.State{Form: timeline.Dir, Mode: timeline.ModeBits(mode)}
}

// contentBefore names the bytes that an undo puts back: of a change through the editor the text
// that counted.
func contentBefore(r *journal.Record) journal.Content {
	if r.Editor != nil {
		return r.Editor.Buffer
	}
	return r.Before.Content
}

func before(r *journal.Record) timeline.State {
	s := journalState(r.Before)
	if s.Form == timeline.File && r.Editor != nil {
		s.Editor, s.Sum, s.Size, s.Stamp = true, sumOf(r.Editor.Buffer), r.Editor.Buffer.Size, nil
		s.Seen = []timeline.Sum{timeline.SumOf(r.Editor.Saw)}
	}
	return s
}

func after(r *journal.Record) timeline.State {
	s := journalState(r.After)
	if s.Form == timeline.File && r.Editor != nil {
		s.Editor = true
		for _, left := range r.Editor.Left {
			s.Seen = append(s.Seen, timeline.SumOf(left))
		}
	}
	return s
}

// journalState is a state of the journal as the timeline has it.
func journalState(j journal.State) timeline.State {
	switch j.Form {
	case journal.Absent:
		return timeline.State{}
	case journal.Link:
		return timeline.State{Form: timeline.Link, Target: j.Target}
	}
	s := timeline.State{Form: timeline.File, Size: j.Content.Size}
	if j.Info != nil {
		s.Mode = timeline.ModeBits(j.Info.Mode())
	}
	if named := j.Named(); named != nil {
		s.Sum = sumOf(*named)
	} else if j.Info != nil {
		s.Size, s.Stamp, s.Lack = j.Info.Size(), stampOf(j.Info), "it is too large to be kept"
	}
	return s
}

func sumOf(c journal.Content) timeline.Sum { return timeline.SumOf(c.Sum) }

func stampOf(info fs.FileInfo) *timeline.Stamp {
	return &timeline.Stamp{
		Time: info.ModTime().UnixNano(), Changed: rootfile.Changed(info).UnixNano(), Inode: rootfile.Inode(info),
	}
}

package undo

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/snapshot"
	"acp-agent/workspace/undo/timeline"
)

// FileChange is a file or link that changed between two looks.
type FileChange struct {
	// Path is absolute, in a session's directory.
	Path string
	Kind journal.Kind
	// Before and After name the bytes; nil is what is not a file, or was not read.
	Before, After *journal.Content
}

// commands are the commands that run, and what was found of their doing. A change that is found
// while one runs counts as its doing, and else as someone else's.
type commands struct {
	mu      sync.Mutex // held during a look
	running int
	// found is what was found since the first of the running commands began.
	found []FileChange
	// mark is the moment in the journal up to which the session's own changes were considered.
	mark int
	// leftAt is when a command was left without a second look; zero when none was.
	leftAt time.Time
}

// leftGrace is how long a stopped command may go on changing files: it is longer than it has
// between TERM and KILL.
const leftGrace = 3 * time.Second

// Scan is a command between the looks before and after it.
type Scan struct {
	h    *History
	from int
	// cut says how far the first look went when it came to a bound.
	cut  string
	once sync.Once
}

// Look looks at the session's directories before a command, and copies what is not copied yet
// (R128). Changed or Leave ends what it starts.
func (h *History) Look(ctx context.Context) *Scan {
	c := &h.commands
	c.mu.Lock()
	defer c.mu.Unlock()
	skipped := h.refresh(ctx, "")
	c.running++
	return &Scan{h: h, from: len(c.found), cut: skipped.Cut}
}

// Changed looks again and returns what changed, sorted by path: regular files and links, not
// directories, and not what this session's tools themselves changed meanwhile. skipped is one
// line that says what was not looked at, "" when nothing was left out.
func (s *Scan) Changed(ctx context.Context) (changes []FileChange, skipped string) {
	c := &s.h.commands
	c.mu.Lock()
	defer c.mu.Unlock()
	if skipped = s.h.refresh(ctx, s.cut).Line(); skipped != "" {
		skipped = "not looked at: " + skipped
	}
	last := map[string]FileChange{}
	for _, change := range c.found[min(s.from, len(c.found)):] {
		if before, twice := last[change.Path]; twice {
			change.Before, change.Kind = before.Before, joined(before.Kind, change.Kind)
		}
		last[change.Path] = change
	}
	for _, change := range last {
		if change.Kind != "" {
			changes = append(changes, change)
		}
	}
	slices.SortFunc(changes, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	s.end()
	return changes, skipped
}

// Leave ends a command that is being stopped, when there is no time for a second look. The next
// look finds what it changed.
func (s *Scan) Leave() {
	c := &s.h.commands
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leftAt = time.Now()
	s.end()
}

// end counts the command as ended. The caller holds mu.
func (s *Scan) end() {
	s.once.Do(func() {
		c := &s.h.commands
		if c.running--; c.running == 0 {
			c.found = nil
		}
	})
}

// joined is what two changes of one path come to; "" when that is nothing.
func joined(first, then journal.Kind) journal.Kind {
	switch {
	case first == journal.Created && then == journal.Deleted:
		return ""
	case first == journal.Created:
		return journal.Created
	case then == journal.Created: // after a deletion
		return journal.Modified
	}
	return then
}

// Settle looks at what a command changed that was stopped without a second look, so that what the
// user does from now on is not taken for its doing. Without such a command it does nothing.
func (h *History) Settle(ctx context.Context) {
	c := &h.commands
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.leftAt.IsZero() {
		h.refresh(ctx, "")
	}
}

// refresh looks at the directories, and notes what the commands that run have changed. cut says
// how far the look before them went. The caller holds mu.
func (h *History) refresh(ctx context.Context, cut string) (skipped snapshot.Skipped) {
	c := &h.commands
	own := h.Written(c.mark)
	c.mark = h.Mark()
	h.tree.Refresh(ctx, func(look snapshot.Look) {
		if skipped = look.Skipped; cut != "" {
			skipped.Cut = cut
		}
		diffs := slices.DeleteFunc(look.Diffs, func(d snapshot.Diff) bool { return !c.counts(d) || isOwn(d, own) })
		if h.line.Started() {
			group := h.group(diffs, own)
			if c.running > 0 || !c.leftAt.IsZero() {
				group.Missed = skipped.Line()
			}
			h.line.Add(group)
		}
		for _, d := range diffs {
			if change, ok := fileChange(d); ok && c.running > 0 {
				c.found = append(c.found, change)
			}
		}
	})
	if time.Since(c.leftAt) > leftGrace {
		c.leftAt = time.Time{}
	}
	return skipped
}

// counts reports whether a change is one of a command's: of one that runs, or of one that was left
// and had not ended by the time of the change.
func (c *commands) counts(d snapshot.Diff) bool {
	if c.running > 0 {
		return true
	}
	return !c.leftAt.IsZero() && (d.After == nil || d.After.Changed < c.leftAt.Add(leftGrace).UnixNano())
}

// isOwn reports whether a difference is what a tool of the session has written.
func isOwn(d snapshot.Diff, own map[string]journal.Change) bool {
	change, ok := own[d.Path]
	if !ok {
		return false
	}
	if change.After == nil || !d.After.IsFile() || d.After.Lack != "" {
		return true
	}
	return change.After.Sum == d.After.Sum
}

// group is what differences are on the timeline. What a tool of the session wrote before the
// command changed the file once more is where its change begins.
func (h *History) group(diffs []snapshot.Diff, own map[string]journal.Change) (g timeline.Group) {
	var sources []timeline.Source
	for _, d := range diffs {
		change := timeline.Change{Path: d.Path, Before: stateOf(d.Before), After: stateOf(d.After)}
		if written, ok := own[d.Path]; ok {
			change.Before = timeline.State{Form: timeline.File, Sum: sumOf(*written.After), Size: written.After.Size}
		} else if change.Before.Form == timeline.File && change.Before.Lack == "" {
			sources = append(sources, timeline.Source{
				Sum: change.Before.Sum, Size: change.Before.Size,
				Open: func() (io.ReadCloser, error) { return io.NopCloser(h.tree.Reader(d.Before)), nil },
			})
		}
		g.Changes = append(g.Changes, change)
	}
	var err error
	if g.Kept, err = h.line.Keep(sources); err != nil {
		for i := range g.Changes {
			if before := &g.Changes[i].Before; before.Form == timeline.File && before.Lack == "" && !h.line.Has(before.Sum) {
				before.Lack = "it could not be kept: " + err.Error()
			}
		}
	}
	return g
}

// stateOf is what a look saw, as the timeline has it.
func stateOf(e *snapshot.Entry) timeline.State {
	switch {
	case e == nil:
		return timeline.State{}
	case e.IsDir():
		return timeline.State{Form: timeline.Dir, Mode: timeline.ModeBits(e.Mode)}
	case e.IsLink():
		return timeline.State{Form: timeline.Link, Target: e.Target}
	case !e.IsFile():
		return timeline.State{Form: timeline.Other}
	}
	s := timeline.State{
		Form: timeline.File, Mode: timeline.ModeBits(e.Mode), Size: e.Size, Lack: string(e.Lack),
		Stamp: &timeline.Stamp{Time: e.Time, Changed: e.Changed, Inode: e.Inode},
	}
	if e.Lack == "" {
		s.Sum = timeline.SumOf(e.Sum)
	}
	return s
}

// fileChange is a difference as the call's result names it; ok is false for directories.
func fileChange(d snapshot.Diff) (change FileChange, ok bool) {
	was, is := d.Before != nil && !d.Before.IsDir(), d.After != nil && !d.After.IsDir()
	change = FileChange{Path: d.Path, Kind: journal.Modified, Before: contentOf(d.Before), After: contentOf(d.After)}
	switch {
	case !was && !is:
		return change, false
	case !was:
		change.Kind = journal.Created
	case !is:
		change.Kind = journal.Deleted
	}
	return change, true
}

func contentOf(e *snapshot.Entry) *journal.Content {
	if !e.IsFile() || e.Lack != "" {
		return nil
	}
	return &journal.Content{Sum: e.Sum, Size: e.Size}
}

// NoteFound adds what a scan found to the changes of an operation, for its result and the audit.
// Undo of a single file does not take it back; that of a whole turn does (R128).
func (h *History) NoteFound(by journal.Origin, changes []FileChange) {
	now := h.o.Now()
	noted := make([]journal.Change, 0, len(changes))
	for _, c := range changes {
		noted = append(noted, journal.Change{Path: c.Path, Kind: c.Kind, Time: now, Seen: true, Before: c.Before, After: c.After})
	}
	h.Note(by, noted...)
}

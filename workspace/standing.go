package workspace

import (
	"context"
	"io/fs"
	"slices"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// standing is what stands at the path of a change that is to be taken back.
type standing struct {
	state journal.State
	// done says that it already is what stood there before the change.
	done bool
}

// standings looks at all that an entry changed. The error is that something was
// changed since.
func (f files) standings(ctx context.Context, entry *journal.Entry) ([]standing, error) {
	var now []standing
	for i := range entry.Records {
		s, err := f.standing(ctx, &entry.Records[i])
		if err != nil {
			return nil, err
		}
		now = append(now, s)
	}
	if last := now[len(now)-1]; last.done != now[0].done {
		return nil, sinceError(entry.Records[0].Path)
	}
	return now, nil
}

func (f files) standing(ctx context.Context, r *journal.Record) (standing, error) {
	var s standing
	var text *reading
	err := f.atName(ctx, "undo", r.Path, func(p *place) (err error) {
		if p.real() != r.Path {
			return sinceError(r.Path) // a link on the way leads elsewhere
		}
		s.state, err = f.stateOf(p)
		if err == nil && s.state.Form == journal.File && p.root.editor && !f.w.secret(p.trail) && f.w.editor.reads() {
			text, err = f.w.readDisk(p)
			if err != nil && local(err) {
				text, err = nil, nil // no text: the editor has no part in it
			}
		}
		return err
	})
	if err == nil && text != nil {
		err = f.readEditor(ctx, text)
	}
	if err != nil {
		return s, err
	}
	if r.Editor != nil {
		return s, s.judgeText(r, text)
	}
	return s, s.judge(r, text)
}

// stateOf looks at what stands at a place.
func (f files) stateOf(p *place) (s journal.State, err error) {
	if !p.exists() {
		return s, nil
	}
	if s.Info, err = p.dir.Lstat(p.name); err != nil {
		return s, moved(err)
	}
	switch mode := s.Info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		s.Form = journal.Link
		s.Target, err = p.dir.Readlink(p.name)
	case mode.IsRegular():
		s.Form = journal.File
		s.Content, s.Unread, err = f.sum(p, s.Info)
	default:
		err = sinceError(p.real())
	}
	return s, err
}

// judge compares the disk with what the change left. Unsaved work in the editor
// is a change since as well.
func (s *standing) judge(r *journal.Record, text *reading) error {
	switch {
	case text != nil && text.side == buffer:
		return sinceError(r.Path)
	case sameState(s.state, r.Before):
		s.done = true
	case !sameState(s.state, r.After):
		return sinceError(r.Path)
	}
	return nil
}

func sameState(a, b journal.State) bool {
	switch {
	case a.Form != b.Form:
		return false
	case a.Form == journal.File && (a.Unread || b.Unread):
		return a.Unread == b.Unread && sameMoment(a.Info, b.Info)
	}
	return a.Content == b.Content && a.Target == b.Target
}

// judgeText is judge for a change through the editor: what counts is the text
// that the person sees.
func (s *standing) judgeText(r *journal.Record, text *reading) error {
	switch {
	case s.state.Form == journal.Absent && r.Before.Form == journal.Absent && r.Editor.Unsaved:
		return &tools.Error{
			Kind: tools.Backend, Path: r.Path,
			Message: r.Path + " is not on disk, only unsaved in the editor; nothing was undone",
			Hint:    "ask the person to close it without saving",
		}
	case s.state.Form == journal.Absent && r.Before.Form == journal.Absent:
		s.done = true
	case text == nil:
		return sinceError(r.Path)
	case r.Before.Form == journal.File && journal.ContentOf(text.content) == r.Editor.Buffer:
		s.done = true
	case !slices.Contains(r.Editor.Left, [32]byte(digestOf(text.content))):
		return sinceError(r.Path)
	}
	return nil
}

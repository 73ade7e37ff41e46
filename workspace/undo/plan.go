package undo

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"acp-agent/workspace/undo/timeline"
)

type fileInfo = fs.FileInfo

// plan is how the paths of an undo are put back, and which are not.
type plan struct {
	h    *History
	tree Tree
	// steps are what is done; asked are the steps that wait for the user's answer.
	steps, asked []*Step
	left         []Left
}

func (p *plan) leave(path, why string) { p.left = append(p.left, Left{path, why}) }

// look compares what stands at each path with what the changes left there.
func (p *plan) look(ctx context.Context, nets []timeline.Net) error {
	for _, n := range nets {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		found, err := p.tree.Find(ctx, n.Path)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			p.leave(n.Path, err.Error())
		default:
			p.place(n, found)
		}
	}
	return nil
}

// place decides about one path.
func (p *plan) place(n timeline.Net, found Found) {
	to, now := n.Before, found.State
	step := &Step{Path: n.Path, From: found, To: to}
	switch {
	case to.Is(now) && !found.Unsaved && (now.Form == timeline.Absent || now.Form == timeline.Link):
		return // it is so already
	case to.Form == timeline.Other || now.Form == timeline.Other:
		p.leave(n.Path, "it is neither a file, a link nor a directory")
	case to.Form == timeline.File && to.Lack != "":
		p.leave(n.Path, "what it held is not kept: "+to.Lack)
	case to.Is(now) && !found.Unsaved:
		if step.To.Mode = modeOf(n, now); step.To.Mode != now.Mode {
			p.steps = append(p.steps, step)
		}
	case now.Form == timeline.Dir || n.After.Form == timeline.Dir && now.Form == timeline.Absent:
		p.steps = append(p.steps, step)
	case found.Unsaved || n.Broken || !n.After.Is(now):
		p.asked = append(p.asked, step)
	default:
		if to.Form == timeline.File && now.Form == timeline.File {
			step.To.Mode = modeOf(n, now)
		}
		p.steps = append(p.steps, step)
	}
}

// modeOf is the permissions that a file gets: its own, unless someone else has set
// others since.
func modeOf(n timeline.Net, now timeline.State) fs.FileMode {
	if n.Before.Mode == 0 || now.Mode == 0 {
		return now.Mode
	}
	if n.After.Mode != 0 && n.After.Form == now.Form && n.After.Mode != now.Mode {
		return now.Mode
	}
	return n.Before.Mode
}

// ask has the user decide about what someone else has changed since.
func (p *plan) ask(ctx context.Context, overwrite Overwrite) error {
	if len(p.asked) == 0 {
		return nil
	}
	var paths []string
	for _, s := range p.asked {
		paths = append(paths, s.Path)
	}
	too := false
	if overwrite != nil {
		var err error
		if too, err = overwrite(ctx, paths); err != nil {
			return err
		}
	}
	if too {
		p.steps = append(p.steps, p.asked...)
		return nil
	}
	for _, path := range paths {
		p.leave(path, "it was changed since by someone else")
	}
	return nil
}

// keep keeps what is replaced, so that the undo can be undone, and drops the steps for which
// bytes are missing on either side.
func (p *plan) keep(ctx context.Context) (kept []timeline.Kept, err error) {
	var sources []timeline.Source
	p.steps = slices.DeleteFunc(p.steps, func(s *Step) bool {
		now := s.From.State
		if now.Form != timeline.File || s.To.Is(now) {
			return false
		}
		if now.Sum == "" {
			p.leave(s.Path, "what it holds is too large to be kept for a redo")
			return true
		}
		sources = append(sources, p.tree.Source(ctx, s.Path, s.From))
		return false
	})
	if kept, err = p.h.line.Keep(sources); err != nil {
		return nil, fmt.Errorf("what the files hold now could not be kept for a redo: %w", err)
	}
	has := map[timeline.Sum]bool{}
	for _, k := range kept {
		has[k.Sum] = true
	}
	p.h.line.Note(kept)
	p.steps = slices.DeleteFunc(p.steps, func(s *Step) bool {
		if s.To.Form != timeline.File || s.To.Is(s.From.State) && !s.From.Unsaved || has[s.To.Sum] || p.h.line.Has(s.To.Sum) {
			return false
		}
		p.leave(s.Path, "what it held is no longer kept")
		return true
	})
	slices.SortFunc(p.steps, func(a, b *Step) int { return strings.Compare(a.Path, b.Path) })
	return kept, nil
}

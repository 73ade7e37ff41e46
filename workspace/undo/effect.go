package undo

import (
	"context"
	"slices"
	"strings"

	"acp-agent/tools"
	"acp-agent/workspace/undo/journal"
)

// effect tells the texts before and after the undo.
func (h *History) effect(ctx context.Context, files Files, entry *journal.Entry, file File) tools.Change {
	here := entry.Records[0]
	if i := slices.IndexFunc(entry.Records, func(r journal.Record) bool {
		return slices.Contains(file.Resolved, r.Path)
	}); i >= 0 {
		here = entry.Records[i]
	}
	change := tools.Change{Path: file.Path, Exists: here.Before.Form != journal.Absent}
	for _, r := range entry.Records {
		if r.Path != here.Path {
			change.Also = append(change.Also, r.Path)
		}
	}
	if file.Secret {
		return change
	}
	change.Old = shown(ctx, files, here.Path)
	switch {
	case len(entry.Records) > 1 && change.Exists: // it comes back from its other name
		change.New = shown(ctx, files, entry.Records[1].Path)
	case here.Editor != nil && change.Exists:
		change.New = h.kept(here.Editor.Buffer)
	case here.Before.Form == journal.File:
		change.New = h.kept(here.Before.Content)
	}
	return change
}

// shown is a file's text as the user sees it; nil when there is none.
func shown(ctx context.Context, files Files, path string) *string {
	text, err := files.ReadText(ctx, path)
	if err != nil || !text.Exists {
		return nil
	}
	return &text.Content
}

// kept is a pre-image as text; nil when it is not a text.
func (h *History) kept(c journal.Content) *string {
	var b strings.Builder
	if c.Size > h.o.MaxText || h.CopyTo(&b, c) != nil || !h.o.IsText(b.String()) {
		return nil
	}
	text := b.String()
	return &text
}

package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"acp-agent/internal/patch"
	"acp-agent/internal/textedit"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// patchStep is the change of one file.
type patchStep struct {
	patch.FileChange
	// path is absolute, to the name after a rename.
	path, to string
	before   tools.Text
	after    string
}

func (s *patchStep) paths() []string {
	if s.to != "" {
		return []string{s.path, s.to}
	}
	return []string{s.path}
}

func (s *patchStep) plan(ctx context.Context, rt tools.Runtime) (err error) {
	if s.Op == patch.Delete {
		// Its text is not the link's, and stays.
		if target, err := rt.FS().Readlink(ctx, s.path); err == nil && target != "" {
			return linked(s.path, target)
		}
	}
	s.before, err = rt.FS().ReadText(ctx, s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileFailure("apply_patch", s.path, err)
	}
	exists := err == nil && s.before.Exists
	switch {
	case s.Op == patch.Create && exists:
		return taken(s.path)
	case s.Op != patch.Create && !exists:
		return tools.Missing(s.path)
	}
	if s.Op == patch.Rename {
		switch _, err := rt.FS().Stat(ctx, s.to); {
		case err == nil:
			return taken(s.to)
		case !errors.Is(err, fs.ErrNotExist):
			return fileFailure("apply_patch", s.to, err)
		}
	}
	if hasNUL(s.before.Content) && len(s.Hunks) > 0 {
		return tools.BinaryRefused(s.path)
	}
	switch s.after, err = patch.Apply(ctx, s.before.Content, s.FileChange); {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return s.mismatch(ctx, err)
	}
	if s.Op == patch.Modify && s.after == s.before.Content {
		return &tools.Error{Kind: tools.BadInput, Path: s.path, Message: fmt.Sprintf("apply_patch: the patch changes nothing in %s", s.path)}
	}
	limit := rt.Session().Limits.FileBytes
	if size := int64(len(s.after)); limit > 0 && size > limit {
		return tools.Oversize(s.path, size, limit)
	}
	return nil
}

// mismatch adds to a miss what is nearest to it, so that the next try can hit.
func (s *patchStep) mismatch(ctx context.Context, err error) *tools.Error {
	failure := &tools.Error{
		Kind: tools.BadInput, Path: s.path, Message: "apply_patch: nothing was changed: " + err.Error(), Err: err,
	}
	if miss, ok := errors.AsType[*patch.Error](err); ok && miss.Old != "" {
		failure.Hint = textedit.NearestHint(ctx, s.before.Content, miss.Old)
		if failure.Hint == "" {
			failure.Hint = "Nothing like it is in the file; read it again before the next try."
		}
	}
	return failure
}

// taken is the error of a new name that something has.
func taken(path string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Message: fmt.Sprintf("apply_patch: nothing was changed: %s already exists", path), Err: fs.ErrExist,
	}
}

// linked is the error of deleting, as the text it leads to, what is a link.
func linked(path, target string) *tools.Error {
	return &tools.Error{
		Kind: tools.BadInput, Path: path, Hint: "delete_file removes a link.",
		Message: fmt.Sprintf("apply_patch: nothing was changed: %s is a link to %s", path, target),
	}
}

// count is the number of lines that come and go.
func (s *patchStep) count() (added, removed int) {
	if s.Op == patch.Delete && len(s.Hunks) == 0 && !hasNUL(s.before.Content) {
		return 0, strings.Count(s.before.Content, "\n")
	}
	return s.Count()
}

func (s *patchStep) content(ctx context.Context) []kinds.Content {
	switch {
	case s.Op == patch.Rename:
		content := []kinds.Content{kinds.Text{Text: fmt.Sprintf("Renames %s to %s.", inCard(s.path), inCard(s.to))}}
		if len(s.Hunks) > 0 {
			content = append(content, diffOf(ctx, s.to, s.before, s.after))
		}
		return content
	case hasNUL(s.before.Content):
		return []kinds.Content{kinds.Text{Text: fmt.Sprintf("Deletes %s, which is no text.", inCard(s.path))}}
	}
	return []kinds.Content{diffOf(ctx, s.path, s.before, s.after)}
}

// location is where the file is now, at its first changed line.
func (s *patchStep) location() kinds.Location {
	l := kinds.Location{Path: s.path}
	if s.to != "" {
		l.Path = s.to
	}
	if len(s.Hunks) > 0 && s.Op != patch.Delete {
		same := 0
		for same < min(len(s.before.Content), len(s.after)) && s.before.Content[same] == s.after[same] {
			same++
		}
		l.Line = 1 + strings.Count(s.after[:same], "\n")
	}
	return l
}

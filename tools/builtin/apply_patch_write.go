package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"acp-agent/internal/patch"
	"acp-agent/tools"
)

// distinct refuses a patch that changes one file under two names, which would wait for
// each other's lock for ever.
func (p *patching) distinct() error {
	seen := map[string]string{}
	for _, path := range p.paths() {
		real := realName(path, p.rt.Session().Env)
		if other, twice := seen[real]; twice {
			return &tools.Error{
				Kind: tools.BadInput, Path: path, Message: fmt.Sprintf("apply_patch: %s and %s are one file: put its hunks below one name", other, path),
			}
		}
		seen[real] = path
	}
	return nil
}

// lock takes the locks of all files.
func (p *patching) lock(ctx context.Context) (unlock func(), err error) {
	paths := lockOrder(p.paths(), p.rt.Session().Env)
	var held []func()
	unlock = func() {
		for _, u := range slices.Backward(held) {
			u()
		}
	}
	for _, path := range paths {
		u, err := p.rt.FS().Lock(ctx, path)
		if err != nil {
			unlock()
			return nil, err
		}
		held = append(held, u)
	}
	return unlock, nil
}

// change is what is to become of a file.
func (s *patchStep) change() tools.FileChange {
	c := tools.FileChange{Path: s.path, To: s.to, Delete: s.Op == patch.Delete, Before: &s.before}
	if s.Op != patch.Delete && (s.Op != patch.Rename || s.after != s.before.Content) {
		c.Text = &s.after
	}
	return c
}

// write changes all files, or none.
func (p *patching) write(ctx context.Context) error {
	var all []tools.FileChange
	several := len(p.steps) > 1
	for i := range p.steps {
		c := p.steps[i].change()
		several = several || c.Text != nil && c.To != ""
		all = append(all, c)
	}
	changes := p.rt.Services().Changes
	if changes == nil && several {
		return &tools.Error{
			Kind: tools.Unavailable, Message: "apply_patch: this session cannot take changes back, so a patch that might be applied by half is refused",
			Hint: "Change one file at a time.",
		}
	}
	if err := p.rt.FS().Apply(ctx, all); err != nil {
		return undone(ctx, changes, fileFailure("apply_patch", p.steps[0].path, err))
	}
	return nil
}

// undone takes back what was changed before err, and says what came of that.
func undone(ctx context.Context, changes tools.Changes, err error) error {
	var left []error
	if changes != nil {
		// What was started is taken back also when the user cancelled, and also the
		// write that failed: an editor that did not answer may have made it.
		left = changes.Rollback(context.WithoutCancel(ctx))
	}
	known, ok := errors.AsType[*tools.Error](err)
	switch {
	case len(left) > 0:
		return &tools.Error{
			Kind: tools.Backend, Err: err,
			Message: fmt.Sprintf("apply_patch: %v\nNot all that was changed before could be put back: %v", err, errors.Join(left...)),
			Hint:    "Tell the user which files are left changed.",
		}
	case ok:
		failure := *known
		failure.Message, failure.Err = "apply_patch: nothing was changed: "+known.Message, err
		return &failure
	}
	return err
}

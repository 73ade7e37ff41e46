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

// operation is one change of the disk.
type operation func(ctx context.Context, files tools.FS) error

// operations are those of a file, in order. A text is written under the old
// name first: the editor knows the file by it.
func (s *patchStep) operations() []operation {
	var all []operation
	if s.Op != patch.Delete && (s.Op != patch.Rename || s.after != s.before.Content) {
		all = append(all, func(ctx context.Context, files tools.FS) error {
			return files.WriteText(ctx, s.path, s.after, &s.before)
		})
	}
	switch s.Op {
	case patch.Delete:
		all = append(all, func(ctx context.Context, files tools.FS) error { return files.Remove(ctx, s.path, &s.before) })
	case patch.Rename:
		all = append(all, func(ctx context.Context, files tools.FS) error { return files.Rename(ctx, s.path, s.to) })
	}
	return all
}

// write changes the files in the order of the patch, and takes everything back
// when one cannot be changed.
func (p *patching) write(ctx context.Context) error {
	count := 0
	for i := range p.steps {
		count += len(p.steps[i].operations())
	}
	changes := p.rt.Services().Changes
	if changes == nil && count > 1 {
		return &tools.Error{
			Kind: tools.Unavailable, Message: "apply_patch: this session cannot take changes back, so a patch that might be applied by half is refused",
			Hint: "Change one file at a time.",
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		for _, do := range s.operations() {
			if err := do(ctx, p.rt.FS()); err != nil {
				return undone(ctx, changes, fileFailure("apply_patch", s.path, err))
			}
		}
	}
	return nil
}

// undone takes back what was changed before err, and says what came of that.
func undone(ctx context.Context, changes tools.Changes, err error) error {
	var left []error
	if changes != nil {
		// What was begun is taken back also when the person cancelled, and also the
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

package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"acp-agent/tools"
	"acp-agent/workspace/undo/recovery"
)

// Apply makes several changes as one (R97), in two phases. The first prepares
// all of them: it compares each file with what the caller read, keeps the pre-images,
// and writes each new text to a temporary file beside its target, synced. A disk
// that is full, or a file that changed, is found there, and nothing was changed.
// The second hands texts to the editor, and then does no more than rename: what
// is done of it before one fails is renamed back. The plan of the renamings is on
// disk before the first, so that a sweep renames back what a kill cut in two.
// What an editor was handed is on record like any change, and is taken back by
// [tools.Changes].
func (f files) Apply(ctx context.Context, changes []tools.FileChange) error {
	b := &batch{files: f}
	for _, c := range changes {
		b.add(c)
	}
	if len(b.parts) == 1 {
		return b.alone(ctx, changes[0])
	}
	return b.stage(ctx, 0)
}

// part is one change of a batch.
type part interface {
	// stage prepares the change and calls then, while it holds what the change needs.
	stage(ctx context.Context, then func() error) error
	// plan says how the change is undone after a kill.
	plan() recovery.Step
	// do makes the change, and undo takes it back. A change that undo cannot take back
	// is put on record, to be restored from its pre-image.
	do(ctx context.Context) error
	undo() error
	// sync makes the change survive a power failure.
	sync()
	// commit puts the change on record.
	commit()
}

// batch is a list of changes that are made together.
type batch struct {
	files
	parts []part
}

func (b *batch) add(c tools.FileChange) {
	if c.Text != nil {
		b.parts = append(b.parts, &writing{change: &change{files: b.files, text: *c.Text, before: c.Before}, path: c.Path})
	}
	switch {
	case c.Delete:
		b.parts = append(b.parts, &removing{removal: &removal{files: b.files, before: c.Before}, path: c.Path})
	case c.To != "":
		b.parts = append(b.parts, &renaming{files: b.files, from: c.Path, to: c.To})
	}
}

// alone makes the one change of a batch.
func (b *batch) alone(ctx context.Context, c tools.FileChange) error {
	switch {
	case c.Delete:
		return b.Remove(ctx, c.Path, c.Before)
	case c.To != "":
		return b.Rename(ctx, c.Path, c.To)
	}
	return b.WriteText(ctx, c.Path, *c.Text, c.Before)
}

// stage prepares parts[i] and the parts after it by recursion, because each part keeps its
// directory open. Once all are prepared it makes the changes.
func (b *batch) stage(ctx context.Context, i int) error {
	if i == len(b.parts) {
		err := b.apply(ctx)
		if errors.Is(err, errMoved) { // nothing is prepared again once changes were made
			err = &tools.Error{Kind: tools.Backend, Err: tools.ErrChanged, Message: "a file was changed since it was read"}
		}
		return err
	}
	return b.parts[i].stage(ctx, func() error { return b.stage(ctx, i+1) })
}

// apply makes the changes, once all are prepared.
func (b *batch) apply(ctx context.Context) error {
	var local []part
	for _, s := range b.parts {
		if w, ok := s.(*writing); !ok || !w.handed {
			local = append(local, s)
		} else if err := w.handOver(ctx); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := b.rename(ctx, local); err != nil {
		return err
	}
	for _, s := range local {
		s.commit()
	}
	return nil
}

// rename makes the changes on the disk, under a plan.
func (b *batch) rename(ctx context.Context, parts []part) (err error) {
	if len(parts) == 0 {
		return nil
	}
	var done []part
	var plan []recovery.Step
	for _, s := range parts {
		plan = append(plan, s.plan())
	}
	if err := b.w.o.fault("plan"); err != nil {
		return err
	}
	finish, err := recovery.WritePlan(b.w.private, plan)
	if err != nil {
		return fmt.Errorf("note what is about to be changed: %w", err)
	}
	defer func() {
		if err != nil {
			err = b.undo(done, err)
		}
		finish()
	}()
	for _, s := range parts {
		if err := s.do(ctx); err != nil {
			if w, ok := s.(*writing); ok && w.temp.stands(w.p) {
				done = append(done, s)
			}
			return err
		}
		done = append(done, s)
	}
	// The plan is dropped once the names would survive a power failure.
	for _, s := range parts {
		s.sync()
	}
	return nil
}

// undo takes back what was done before err.
func (b *batch) undo(done []part, err error) error {
	var left []string
	for _, s := range slices.Backward(done) {
		if undone := s.undo(); undone != nil {
			s.commit() // from its pre-image it may still be restored
			left = append(left, fmt.Sprintf("%s: %s", s.plan().Path, reason(undone)))
		}
	}
	if len(left) > 0 {
		return &tools.Error{
			Kind: tools.Backend, Err: err,
			Message: fmt.Sprintf("%v (renaming back failed for %s)", err, strings.Join(left, "; ")),
		}
	}
	return err
}

package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo"
	"acp-agent/workspace/undo/recovery"
	"acp-agent/workspace/undo/timeline"
)

// Apply implements [undo.Tree]. It works in two phases, like [files.Apply]: the first writes all new
// files beside their places, synced, which is where a full disk or a missing permission shows; the
// second hands texts to the editor and then renames, under a plan by which a sweep renames back what
// a kill cut in two. What was renamed before one fails is renamed back.
func (f reverter) Apply(ctx context.Context, steps []*undo.Step, bytes *timeline.Reader) (err error) {
	r := &reverting{reverter: f, bytes: bytes}
	finish := func() {}
	defer func() {
		if err != nil {
			err = r.undo(err)
		}
		finish()
		r.discard(err == nil)
	}()
	for _, s := range steps {
		r.parts = append(r.parts, &reverted{Step: s})
	}
	if err := r.stage(ctx); err != nil {
		return err
	}
	if finish, err = r.writePlan(); err != nil {
		return err
	}
	for _, phase := range []func(context.Context, *reverted) error{r.edit, r.takeAway, r.put, r.setFileMode} {
		for _, p := range r.parts {
			if err := cmp.Or(ctx.Err(), phase(ctx, p)); err != nil {
				return p.named(err)
			}
		}
	}
	for _, p := range slices.Backward(r.parts) {
		if err := r.setDirMode(ctx, p); err != nil {
			return p.named(err)
		}
	}
	r.syncEntries(ctx)
	return nil
}

// reverting is one run of Apply.
type reverting struct {
	reverter
	bytes *timeline.Reader
	parts []*reverted
	done  []func(context.Context) error // what takes back what was done, in the order in which it was
}

// reverted is one step on its way.
type reverted struct {
	*undo.Step
	// text is what the editor is handed; nil for others.
	text *string
	// temp is the name, in the same directory, of the new file, and then of the old one.
	temp string
	// info identifies the new file, once it is written.
	info fs.FileInfo
	// aside says that the old file is under temp and waits to be removed.
	aside bool
}

// replaces reports whether a file or link is put in a place, or something is taken away.
func (p *reverted) replaces() bool {
	if p.text != nil || p.From.State.Form == timeline.Dir && p.To.Form == timeline.Dir {
		return false
	}
	return p.From.Unsaved || !p.To.Is(p.From.State)
}

func (p *reverted) isNode() bool { return p.To.Form == timeline.File || p.To.Form == timeline.Link }

func (p *reverted) wasNode() bool {
	return p.From.State.Form == timeline.File || p.From.State.Form == timeline.Link
}

// tempPath is where the temporary name lies.
func (p *reverted) tempPath() string { return filepath.Join(filepath.Dir(p.Path), p.temp) }

// stage makes the new files whose directories are there, in the order in which their bytes are
// kept.
func (r *reverting) stage(ctx context.Context) error {
	parts := slices.Clone(r.parts)
	slices.SortStableFunc(parts, func(a, b *reverted) int {
		x, y := r.place(a), r.place(b)
		return cmp.Or(strings.Compare(x.Name, y.Name), cmp.Compare(x.At, y.At))
	})
	for _, p := range parts {
		if err := r.stageOne(ctx, p); err != nil {
			return p.named(err)
		}
	}
	return r.sync(ctx)
}

func (r *reverting) place(p *reverted) timeline.Kept { return r.w.history.Place(p.To.Sum) }

func (r *reverting) stageOne(ctx context.Context, p *reverted) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := r.forEditor(p); err != nil || !p.replaces() {
		return err
	}
	p.temp = recovery.TempName()
	r.w.leftovers.Temp(p.tempPath())
	if p.To.Form != timeline.File {
		return nil
	}
	err := r.atName(ctx, "undo", p.Path, func(at *place) error {
		if at.real() != p.Path || len(at.absent) > 0 {
			return nil // its directory comes later
		}
		return r.write(at, p)
	})
	if errors.Is(err, errNotDir) {
		return nil // as above, and a file stands in its place
	}
	return err
}

// forEditor finds out whether the editor writes a file, and reads the text for it.
func (r *reverting) forEditor(p *reverted) error {
	if p.From.Text == nil || p.To.Form != timeline.File || !r.w.editor.writes() || hasOtherNames(p.From.Info) ||
		p.To.Is(p.From.State) && !p.From.Unsaved || p.To.Size > r.w.o.Limits.FileBytes {
		return nil
	}
	var text strings.Builder
	if err := r.bytes.CopyTo(&text, p.To.Sum); err != nil {
		return err
	}
	if isText(text.String()) {
		p.text = new(text.String())
	}
	return nil
}

// write writes the new file under its temporary name.
func (r *reverting) write(at *place, p *reverted) error {
	b := newBody(p, r.bytes)
	t := &temporary{dir: at.dir, name: p.temp}
	if err := r.disk.fillTemp(t, at, b); err != nil {
		t.discard()
		return err
	}
	p.info = t.info
	return nil
}

// sync makes the new files durable, several at a time, as each waits for the disk.
func (r *reverting) sync(ctx context.Context) error {
	errs := make([]error, len(r.parts))
	var all sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i, p := range r.parts {
		if p.info == nil {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = r.atName(ctx, "undo", p.Path, func(at *place) error { return r.syncTemp(at, p) })
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (r *reverting) syncTemp(at *place, p *reverted) error {
	if err := r.disk.fault("sync"); err != nil {
		return err
	}
	f, err := openToSync(at.dir, p.temp)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil // its mode lets no one open it: the system writes it when it comes to that
	case err != nil:
		return moved(err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// openToSync opens a file whose bytes are to be synced, in the way that its mode allows.
func openToSync(dir *os.Root, name string) (f *os.File, err error) {
	for _, way := range [...]int{os.O_RDWR, os.O_RDONLY, os.O_WRONLY} {
		if f, err = dir.OpenFile(name, way|rootfile.Nonblock, 0); !errors.Is(err, fs.ErrPermission) {
			return f, err
		}
	}
	return nil, err
}

// writePlan notes what is about to be renamed.
func (r *reverting) writePlan() (finish func(), err error) {
	finish = func() {}
	var steps []recovery.Step
	for _, p := range r.parts {
		switch step := (recovery.Step{Path: p.Path, Temp: p.tempPath()}); {
		case p.temp == "":
		case p.To.Form == timeline.File:
			if step.Kind = recovery.Create; p.wasNode() {
				step.Kind = recovery.Replace
			}
			step.New = p.To.Sum.Hash()
			steps = append(steps, step)
		case p.wasNode():
			step.Kind = recovery.Remove
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		return finish, nil
	}
	if err := r.w.o.fault("plan"); err != nil {
		return finish, err
	}
	written, err := recovery.WritePlan(r.w.private, steps)
	if err != nil {
		return finish, fmt.Errorf("note what is about to be changed: %w", err)
	}
	return written, nil
}

// undo takes back what was done before err.
func (r *reverting) undo(err error) error {
	var left []string
	for _, back := range slices.Backward(r.done) {
		if undone := back(context.Background()); undone != nil {
			left = append(left, reason(undone))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%w (taking back what was done before failed: %s)", err, strings.Join(left, "; "))
	}
	return err
}

// at does something at the place of a part, if it still leads there.
func (r *reverting) at(ctx context.Context, p *reverted, do func(*place) error) error {
	return r.atName(ctx, "undo", p.Path, func(at *place) error {
		if at.real() != p.Path {
			return undo.ChangedSince(p.Path)
		}
		return do(at)
	})
}

// named is an error that says which path it is about.
func (p *reverted) named(err error) error {
	if strings.Contains(err.Error(), p.Path) {
		return err
	}
	return fmt.Errorf("%s: %w", p.Path, err)
}

// isFound reports whether what stands under a name is what was found before.
func (p *reverted) isFound(at *place, name string) bool {
	now, err := at.dir.Lstat(name)
	return err == nil && rootfile.SameMoment(now, p.From.Info)
}

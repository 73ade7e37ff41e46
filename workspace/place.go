package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
)

// place is a name in a directory that is held open. The way there was walked
// from a root's handle, one directory at a time, and each was proved to be no
// link: what is done to the name is done inside the root.
type place struct {
	*trail
	root *root
	rel  []string
	// dir holds name; name is "." for the root itself.
	dir  *os.Root
	name string
	// absent are the parents that do not exist yet; dir is then the deepest
	// one that does.
	absent []string
}

// close lets go of the directory.
func (p *place) close() {
	if p.dir != p.root.handle {
		_ = p.dir.Close() // only a handle
	}
}

// parentPath is the directory that holds the name.
func (p *place) parentPath() string { return filepath.Dir(p.real()) }

// tries is how often a path is followed again when it moves under our feet, as
// it does while editors save by renaming.
const tries = 16

// at does something at the place a path leads to, allowed for this call. It
// does it again when the path led elsewhere by the time it was used.
func (c *Call) at(ctx context.Context, op, path string, write bool, do func(*place) error) error {
	return c.where(ctx, op, path, write, c.w.follow, do)
}

// atName is at for changing a name: a link that has it is not followed.
func (c *Call) atName(ctx context.Context, op, path string, do func(*place) error) error {
	return c.where(ctx, op, path, true, c.w.followName, do)
}

func (c *Call) where(
	ctx context.Context, op, path string, write bool, follow func(abs string) (*trail, error), do func(*place) error,
) error {
	abs := c.w.abs(path)
	for range tries {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if c.ended() {
			return endedError(abs)
		}
		err := c.once(abs, write, follow, do)
		if errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return failure(op, abs, err)
		}
		return nil
	}
	return failure(op, abs, errMoved)
}

func (c *Call) once(abs string, write bool, follow func(string) (*trail, error), do func(*place) error) error {
	t, err := follow(abs)
	if err != nil {
		return err
	}
	r, rel := pick(c.w.roots(c.id), t, write)
	if r == nil || c.w.foreign(t, r) {
		return c.w.outside(t, write)
	}
	if err := c.inScope(t, write); err != nil {
		return err
	}
	if err := c.inBounds(t, r, write); err != nil {
		return err
	}
	p, err := walk(r, t, rel)
	if err != nil {
		return err
	}
	defer p.close()
	return do(p)
}

// open is at for reading what must exist and hold no secret. The secret is
// refused before anything is said of the file's existence (R29).
func (c *Call) open(ctx context.Context, op, path string, do func(*place) error) error {
	if abs := c.w.abs(path); c.w.o.Protection.Secret(abs) {
		return tools.SecretRefused(abs)
	}
	return c.at(ctx, op, path, false, func(p *place) error {
		switch {
		case c.w.secret(p.trail):
			return tools.SecretRefused(p.asked)
		case !p.exists():
			return &fs.PathError{Op: op, Path: p.asked, Err: fs.ErrNotExist}
		}
		return do(p)
	})
}

// walk goes from a root to the parent of what the trail leads to.
func walk(r *root, t *trail, rel []string) (*place, error) {
	p := &place{trail: t, root: r, rel: rel, dir: r.handle, name: "."}
	if len(rel) == 0 {
		return p, nil
	}
	parents := rel[:len(rel)-1]
	p.name = rel[len(rel)-1]
	if absent := len(t.missing) - 1; absent > 0 {
		p.absent = parents[len(parents)-absent:]
		parents = parents[:len(parents)-absent]
	}
	for _, name := range parents {
		if err := p.enter(name); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// enter goes one directory down. What was opened must be what stood there as a
// directory of its own: a link put in its place is noticed.
func (p *place) enter(name string) error {
	before, err := p.dir.Lstat(name)
	if err != nil {
		return moved(err)
	}
	if !before.IsDir() {
		return errMoved
	}
	next, err := p.dir.OpenRoot(name + dirSuffix)
	if err != nil {
		return moved(err)
	}
	after, err := next.Stat(".")
	if err != nil || !os.SameFile(before, after) {
		_ = next.Close()
		return errors.Join(errMoved, err)
	}
	p.close()
	p.dir = next
	return nil
}

// moved marks errors that say no more than that the path is another by now.
func moved(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir) {
		return errMoved
	}
	return err
}

// lstat describes what stands at the place, which must not be a link.
func (p *place) lstat() (fs.FileInfo, error) {
	info, err := p.dir.Lstat(p.name)
	if err != nil {
		return nil, moved(err)
	}
	if _, isLink, err := linkTarget(p.real(), info); isLink || err != nil {
		return nil, errors.Join(errMoved, err)
	}
	return info, nil
}

// openFile opens a regular file for reading. It never waits for a FIFO's other
// end, and never follows a link (P6).
func (p *place) openFile() (*os.File, error) {
	before, err := p.lstat()
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, notRegular(p.asked, before)
	}
	f, err := p.dir.OpenFile(p.name, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return nil, moved(err)
	}
	after, err := f.Stat()
	if err != nil || !os.SameFile(before, after) {
		_ = f.Close()
		return nil, errors.Join(errMoved, err)
	}
	if isKernelFile(f) {
		_ = f.Close()
		return nil, &tools.Error{Kind: tools.Denied, Path: p.asked, DeniedBy: tools.DeniedByCapability, Message: p.asked + " is a file of the kernel"}
	}
	return f, nil
}

// openDir opens the directory that stands at the place.
func (p *place) openDir() (*os.Root, error) {
	if p.name == "." {
		return p.root.handle.OpenRoot(".")
	}
	sub := *p
	sub.dir, sub.root = p.dir, &root{handle: p.dir} // enter must leave p.dir open
	if info, err := p.lstat(); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: p.asked, Err: errNotDir}
	}
	if err := sub.enter(p.name); err != nil {
		return nil, err
	}
	return sub.dir, nil
}

func notRegular(path string, info fs.FileInfo) *tools.Error {
	what := "is not a regular file"
	if info.IsDir() {
		what = "is a directory"
	}
	return &tools.Error{Kind: tools.BadInput, Path: path, Message: path + " " + what}
}

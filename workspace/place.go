package workspace

import (
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

package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// temporary is the file that a write makes beside its target.
type temporary struct {
	dir  *os.Root
	name string
	info fs.FileInfo
}

var tempName = regexp.MustCompile(`^\.acp-agent-[a-z2-7]{26}\.tmp$`)

// writeTemp writes the text to a new file in the target's directory, with the
// mode and, where that is permitted, the owner and attributes of old. On every
// failure the file is gone again.
func (c *change) writeTemp(p *place, old fs.FileInfo) (*temporary, error) {
	t := &temporary{dir: p.dir, name: ".acp-agent-" + strings.ToLower(rand.Text()) + ".tmp"}
	c.w.private.remember(siblingOf(p, t.name))
	err := c.fillTemp(t, p, old)
	if err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

func (c *change) fillTemp(t *temporary, p *place, old fs.FileInfo) error {
	if err := c.w.o.fault("create"); err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if old != nil {
		mode = 0o600 // until it has the mode of the file it replaces
	}
	f, err := p.dir.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return moved(err)
	}
	err = c.fill(f, p, old)
	if err == nil {
		t.info, err = f.Stat()
	}
	return errors.Join(err, f.Close())
}

func (c *change) fill(f *os.File, p *place, old fs.FileInfo) error {
	if err := c.w.o.fault("write"); err != nil {
		return err
	}
	if _, err := f.WriteString(c.text); err != nil {
		return err
	}
	if old != nil {
		keepOwner(f, old)
		keepAttributes(f, p)
		if err := c.w.o.fault("chmod"); err != nil {
			return err
		}
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := c.w.o.fault("sync"); err != nil {
		return err
	}
	return f.Sync()
}

// rename puts the file in the target's place, whatever stands there.
func (t *temporary) rename(p *place) error { return moved(p.dir.Rename(t.name, p.name)) }

// create gives the file its name if nothing has it.
func (t *temporary) create(p *place) error {
	err := p.dir.Link(t.name, p.name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return changedError(p.asked)
	}
	// Not every file system has hard links.
	if _, err := p.dir.Lstat(p.name); !errors.Is(err, fs.ErrNotExist) {
		return changedError(p.asked)
	}
	return t.rename(p)
}

// replace puts the file in the target's place if that still is what same
// accepts.
func (t *temporary) replace(p *place, same func(*os.File) bool) error {
	if err := t.check(p, p.name, same); err != nil {
		return err
	}
	switch err := exchange(p.dir, t.name, p.name); {
	case errors.Is(err, errors.ErrUnsupported):
		return t.rename(p)
	case err != nil:
		return moved(err)
	}
	if t.check(p, t.name, same) == nil {
		return nil // the old file goes with the temporary name
	}
	return t.giveBack(p)
}

// giveBack undoes an exchange that took away another file than the one that
// was looked at. If the person saved once more meanwhile, that file comes back
// under the temporary name and is put in its place: the newest one wins.
func (t *temporary) giveBack(p *place) error {
	for range tries {
		if err := exchange(p.dir, t.name, p.name); err != nil {
			return err
		}
		now, err := p.dir.Lstat(t.name)
		if err != nil {
			return err
		}
		if os.SameFile(now, t.info) {
			break
		}
	}
	return changedError(p.asked)
}

// check opens a name beside the target and looks at what it holds.
func (t *temporary) check(p *place, name string, same func(*os.File) bool) error {
	beside := *p
	beside.name = name
	f, err := beside.openFile()
	if err != nil {
		if errors.Is(err, errMoved) {
			return changedError(p.asked)
		}
		return err
	}
	defer f.Close()
	if !same(f) {
		return changedError(p.asked)
	}
	return nil
}

// discard removes the temporary name: our file when the write failed, the old
// one when it was exchanged, nothing when ours was renamed.
func (t *temporary) discard() {
	_ = t.dir.Remove(t.name) // what stays is swept later
}

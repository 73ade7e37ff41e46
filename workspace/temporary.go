package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/undo/journal"
	"acp-agent/workspace/undo/recovery"
)

// temporary is the file that a write makes beside its target.
type temporary struct {
	dir  *os.Root
	name string
	info fs.FileInfo
}

// body is what a temporary file is made of.
type body struct {
	write func(*os.File) error
	// old is the file whose owner and mode it gets, where that is permitted; nil
	// for a new one. mode takes the place of old's.
	old  fs.FileInfo
	mode fs.FileMode
	// keep copies the attributes of the file that stands at the place;
	// attributes are others.
	keep       bool
	attributes []journal.Attribute
	// unsynced leaves the sync to the caller.
	unsynced bool
}

// newTemp is a name beside a place that nothing has.
func (d *disk) newTemp(p *place) *temporary {
	t := &temporary{dir: p.dir, name: recovery.TempName()}
	d.leftovers.Temp(siblingOf(p, t.name))
	return t
}

// writeTemp writes a new file in the target's directory. On every failure it is
// gone again.
func (d *disk) writeTemp(p *place, b body) (*temporary, error) {
	t := d.newTemp(p)
	if err := d.fillTemp(t, p, b); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

func (d *disk) fillTemp(t *temporary, p *place, b body) error {
	if err := d.fault("create"); err != nil {
		return err
	}
	mode := fs.FileMode(0o666)
	if b.old != nil {
		mode = 0o600 // until it has the mode of the file it replaces
	}
	file, err := p.dir.OpenFile(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return moved(err)
	}
	err = d.fill(file, p, b)
	if err == nil {
		t.info, err = file.Stat()
	}
	return errors.Join(err, file.Close())
}

func (d *disk) fill(file *os.File, p *place, b body) error {
	if err := d.fault("write"); err != nil {
		return err
	}
	if err := b.write(file); err != nil {
		return err
	}
	if b.old != nil {
		keepOwner(file, b.old)
		if b.keep {
			keepAttributes(file, p)
		}
		setAttributes(file, b.attributes)
		if err := d.fault("chmod"); err != nil {
			return err
		}
		if err := setMode(file, b.mode, b.old); err != nil {
			return err
		}
	}
	if b.unsynced {
		return nil
	}
	if err := d.fault("sync"); err != nil {
		return err
	}
	return file.Sync()
}

// setMode gives a file a mode, the bits beyond the permissions as far as that
// is allowed. It never lends the owner's identity to what was written.
func setMode(f *os.File, mode fs.FileMode, old fs.FileInfo) error {
	special := mode & fs.ModeSticky
	if sameGroup(f, old) {
		special |= mode & fs.ModeSetgid
	}
	if special != 0 && f.Chmod(mode.Perm()|special) == nil {
		return nil
	}
	return f.Chmod(mode.Perm())
}

// stands reports whether the file has taken the place.
func (t *temporary) stands(p *place) bool {
	now, err := p.dir.Lstat(p.name)
	return err == nil && os.SameFile(now, t.info)
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
	switch err := rootfile.Exchange(p.dir, t.name, p.name); {
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
// was looked at. If the user saved once more meanwhile, that file comes back
// under the temporary name and is put in its place: the newest one wins. It is over
// when what comes away is what we had put there, as we had put it there.
func (t *temporary) giveBack(p *place) error {
	ours := t.info
	for range tries {
		next, err := p.dir.Lstat(t.name)
		if err != nil {
			return err
		}
		if err := rootfile.Exchange(p.dir, t.name, p.name); err != nil {
			return err
		}
		came, err := p.dir.Lstat(t.name)
		if err != nil {
			return err
		}
		// The number of a file that is gone may be that of a new one by now.
		if rootfile.SameMoment(came, ours) {
			break
		}
		ours = next
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

// siblingOf is the path of another name in the directory of a place.
func siblingOf(p *place, name string) string { return filepath.Join(filepath.Dir(p.real()), name) }

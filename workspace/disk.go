package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"acp-agent/internal/rootfile"
	"acp-agent/tools"
	"acp-agent/workspace/undo/recovery"
)

// disk changes files at places, in steps that leave each name with a whole file: the old
// one or the new one.
type disk struct {
	leftovers *recovery.Leftovers
	// ended reports whether the call is over: nothing is changed after it.
	ended func() bool
	// fault is called before each step, see Options.
	fault func(step string) error
}

// moveTo gives the file at p the place q, which is free, if it still is the one
// that was looked at.
func (d *disk) moveTo(p, q *place, then fs.FileInfo) error {
	if d.ended() {
		return endedError(p.asked)
	}
	if err := d.fault("rename"); err != nil {
		return err
	}
	err := rootfile.RenameNew(p.dir, p.name, q.dir, q.name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return takenError(q.asked)
	case errors.Is(err, errors.ErrUnsupported):
		return d.copyTo(p, q, then)
	case err != nil:
		return moved(err)
	}
	now, err := q.dir.Lstat(q.name)
	if err == nil && rootfile.SameMoment(now, then) {
		return nil
	}
	return errors.Join(errMoved, rootfile.RenameNew(q.dir, q.name, p.dir, p.name))
}

// copyTo is moveTo between file systems, and where the system cannot rename
// without writing over: a copy takes the place, then the file goes.
func (d *disk) copyTo(p, q *place, then fs.FileInfo) error {
	from, err := p.openFile()
	if err != nil {
		return err
	}
	defer from.Close()
	copied, err := d.writeTemp(q, body{
		write: func(to *os.File) error { _, err := to.ReadFrom(from); return err },
		old:   then, mode: then.Mode(), attributes: attributesOf(from),
	})
	if err != nil {
		return err
	}
	defer copied.discard()
	if err := copied.create(q); err != nil {
		if errors.Is(err, tools.ErrChanged) {
			return takenError(q.asked)
		}
		return err
	}
	if err := d.takeAway(p, then); err != nil {
		return errors.Join(err, d.takeAway(q, copied.info))
	}
	return nil
}

// takeAway removes what stands at a place if that still is what was looked at.
// It is moved aside first: between a look and a removal by name the user may
// save another file under the name.
func (d *disk) takeAway(p *place, then fs.FileInfo) error {
	aside := d.newTemp(p)
	if err := d.moveAside(p, aside, then); err != nil {
		return err
	}
	aside.discard()
	return nil
}

// moveAside is takeAway that keeps what it took, under the temporary name.
func (d *disk) moveAside(p *place, aside *temporary, then fs.FileInfo) error {
	if d.ended() {
		return endedError(p.asked)
	}
	if err := d.fault("remove"); err != nil {
		return err
	}
	if err := p.dir.Rename(p.name, aside.name); err != nil {
		return moved(err)
	}
	now, err := p.dir.Lstat(aside.name)
	if err == nil && rootfile.SameMoment(now, then) {
		return nil
	}
	return errors.Join(errMoved, aside.putBack(p))
}

// syncEntry makes the directory's entry durable. The text is in place by now, so an error
// of the file system is not a failure of the write.
func (d *disk) syncEntry(p *place) {
	if d.fault("syncdir") == nil {
		_ = syncDir(p.dir)
	}
}

// makeParents creates the directories above a new file and moves the place
// down into them. note is called for each, as the journal's Made.
func (d *disk) makeParents(p *place, operation string, note func(dir, operation string, info fs.FileInfo)) error {
	path := p.last().path
	for _, name := range p.absent {
		path = filepath.Join(path, name)
		if err := d.fault("mkdir"); err != nil {
			return err
		}
		if _, err := p.dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			d.leftovers.Dir(path)
		}
		err := p.dir.Mkdir(name, 0o777)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return moved(err)
		}
		if err := p.enter(name); err != nil {
			return err
		}
		if info, statErr := p.dir.Stat("."); err == nil && statErr == nil {
			note(path, operation, info)
		}
	}
	p.absent = nil
	return nil
}

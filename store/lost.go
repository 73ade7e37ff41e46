package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"acp-agent/internal/userfile"
)

// ensureName restores the session's record when someone has removed it or its directory. The open file
// can still be written, but without a name it would be lost with the process. mu is held.
func (r *Recorder) ensureName() error {
	o := r.file
	if !userfile.Lost(o.store.path(o.id, recordEnd), o.f) {
		return nil
	}
	o.lost = true
	r.live.drop()
	r.regrow()
	r.fault = o.restore()
	return r.fault
}

// restore copies the open file, which was removed, into a new one with its name. Nothing is written until
// it succeeds.
func (o *output) restore() error {
	if err := userfile.MakeDir(o.store.o.Dir); err != nil {
		return err
	}
	o.store.unlock(o.id) // the file of locks is gone, too
	o.locked = false
	if err := o.store.lock(o.id); err != nil {
		return err
	}
	o.locked = true
	name := o.store.path(o.id, recordEnd)
	f, err := o.store.o.open(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return fmt.Errorf("the file of session %s was removed: %w", o.id, err)
	}
	if _, err := io.Copy(f, io.NewSectionReader(o.f, 0, o.size)); err != nil {
		return errors.Join(err, f.Close(), userfile.Remove(name))
	}
	_ = o.f.Close() // it has no name
	o.f, o.fresh, o.torn, o.lost = f, true, false, false
	return nil
}

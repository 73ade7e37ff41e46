package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"acp-agent/internal/userfile"
)

// keepName gives the session's file back its name when someone has removed it, or its directory;
// mu is held. Such a file can still be written, and what is written is lost with the process.
func (r *Recorder) keepName() error {
	o := r.file
	if !userfile.Lost(o.store.path(o.id, recordEnd), o.f) {
		return nil
	}
	o.lost = true
	r.live.lose()
	r.regrow()
	r.fault = o.restore()
	return r.fault
}

// restore copies what a file that has lost its name holds into one that has it. Until that
// succeeds nothing is written.
func (o *output) restore() error {
	if err := userfile.MakeDir(o.store.o.Dir); err != nil {
		return err
	}
	o.store.unlock(o.id) // of a file of locks that is gone, too
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

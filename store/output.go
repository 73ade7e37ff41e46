package store

import (
	"errors"
	"fmt"
	"os"

	"acp-agent/internal/userfile"
)

// output writes a session's record. Lines stay in queue until they are synced, and not only until they
// are written: after a failed sync it is not known what is on the disk, so they are written again. A
// reader skips lines whose numbers it has seen.
type output struct {
	store  *Store
	id     string
	f      sessionFile // nil until the first line is written
	locked bool
	queue  []byte // lines that are not synced
	sent   int    // how many bytes of queue are written
	base   int64  // how many bytes have left the queue
	size   int64  // of the file, up to its last complete line
	torn   bool   // a write failed: the file may be longer than size
	fresh  bool   // the file is new, and its directory not synced
	lost   bool   // the file was removed
}

func newOutput(s *Store, id string) *output { return &output{store: s, id: id} }

// unsyncedBytes is how much may wait in the queue before a sync starts.
const unsyncedBytes = 4 << 20

// flush writes the queue, and then the live file. When the record cannot be opened or written, the queue
// stays as it is. mu is held.
func (r *Recorder) flush() error {
	if !r.started {
		return nil
	}
	r.addDirty()
	err := r.file.write(r.stored)
	if err == nil {
		err = r.writeLive()
	}
	r.fault = err
	return err
}

// write writes the queue. stored is the index of a session that was resumed; nil for a new one.
func (o *output) write(stored *Stored) error {
	if o.sent == len(o.queue) {
		return nil
	}
	if err := o.open(stored); err != nil {
		return err
	}
	if o.lost {
		if err := o.restore(); err != nil {
			return err
		}
	}
	if o.torn {
		if err := o.truncate(o.size); err != nil {
			return err
		}
		o.torn = false
	}
	n, err := o.f.Write(o.queue[o.sent:])
	if err != nil {
		o.torn = n > 0
		return err
	}
	o.sent += n
	o.size += int64(n)
	return nil
}

// open locks the session and opens its file.
func (o *output) open(stored *Stored) (err error) {
	if o.f != nil {
		return nil
	}
	if err := checkID(o.id); err != nil {
		return err
	}
	if err := userfile.MakeDir(o.store.o.Dir); err != nil {
		return err
	}
	if !o.locked {
		if err := o.store.lock(o.id); err != nil {
			return err
		}
		o.locked = true
	}
	name := o.store.path(o.id, recordEnd)
	if stored == nil {
		o.f, err = o.store.o.open(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL)
		o.fresh = err == nil
		return err
	}
	f, err := o.store.o.open(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	if err := o.resume(f, stored); err != nil {
		return errors.Join(err, f.Close())
	}
	o.f = f
	return nil
}

// resume makes the file end after its last complete line.
func (o *output) resume(f sessionFile, stored *Stored) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != stored.size {
		return fmt.Errorf("session %s changed after it was read; it is not written any more", o.id)
	}
	o.size = stored.end
	if stored.end < stored.size {
		if err := o.truncate(stored.end); err != nil {
			return err
		}
		stored.size = stored.end
	}
	if stored.open { // only the line break of the last line is missing
		if _, err := f.Write([]byte("\n")); err != nil {
			return err
		}
		stored.open = false
		o.size, stored.end, stored.size = o.size+1, o.size+1, o.size+1
	}
	return nil
}

// truncate opens the file again, because some systems do not truncate a file that is open for appending.
func (o *output) truncate(size int64) error {
	f, err := o.store.o.open(o.store.path(o.id, recordEnd), os.O_RDWR)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// sync syncs what is written, and removes it from the queue.
func (r *Recorder) sync() error {
	r.syncing.Lock()
	defer r.syncing.Unlock()
	r.mu.Lock()
	o := r.file
	idle := o.f == nil || o.sent == 0
	if !idle {
		if err := r.ensureName(); err != nil {
			r.mu.Unlock()
			return err
		}
	}
	f, upTo, fresh := o.f, o.base+int64(o.sent), o.fresh
	r.mu.Unlock()
	if idle {
		return nil
	}
	err := f.Sync()
	if err == nil && fresh {
		userfile.SyncDir(r.store.o.Dir)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		o.sent = 0
		r.fault = err
		return err
	}
	o.fresh = false
	done := int(upTo - o.base)
	o.base, o.sent = upTo, o.sent-done
	rest := o.queue[done:]
	if cap(o.queue) > unsyncedBytes {
		o.queue = append([]byte(nil), rest...)
	} else {
		o.queue = append(o.queue[:0], rest...)
	}
	return nil
}

// syncSoon starts a sync in the background; mu is held.
func (r *Recorder) syncSoon() {
	r.wanted = true
	if r.running || r.closed {
		return
	}
	r.running = true
	r.syncs.Go(func() {
		for {
			r.mu.Lock()
			if !r.wanted {
				r.running = false
				r.mu.Unlock()
				return
			}
			r.wanted = false
			r.mu.Unlock()
			r.report(r.sync())
		}
	})
}

// release closes the files and unlocks the session.
func (r *Recorder) release() error {
	r.syncing.Lock()
	defer r.syncing.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.live.remove()
	o := r.file
	if o.f != nil {
		err = errors.Join(err, o.f.Close())
		o.f = nil
	}
	if o.locked {
		o.store.unlock(o.id)
		o.locked = false
	}
	return err
}

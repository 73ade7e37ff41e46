package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"acp-agent/internal/userfile"
)

// Owner is the process that has a session open.
type Owner struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
	// Since is when it opened the session.
	Since time.Time `json:"since"`
}

// BusyError says that another process has a session open, or this one.
type BusyError struct {
	ID string
	// Owner is the zero value while the file of the owner is not written yet.
	Owner Owner
}

func (e *BusyError) Error() string {
	if e.Owner.PID == 0 {
		return fmt.Sprintf("session %s is open in another process", e.ID)
	}
	return fmt.Sprintf("session %s is open in process %d on %s since %s", e.ID, e.Owner.PID, e.Owner.Host, e.Owner.Since.Format(time.DateTime))
}

// locksName is the file of which one byte is locked for each open session. The system releases the locks
// of a process when it ends, however it ends, so that there are no stale locks.
const locksName = "locks"

// lock locks a session for this process, and writes the file of its owner.
func (s *Store) lock(id string) error {
	locks, err := s.hold(id)
	if err != nil {
		return err
	}
	unlock, err := locks.Lock(context.Background(), id, s.o.LockWait)
	if err == nil {
		s.mu.Lock()
		s.held[id] = unlock
		s.mu.Unlock()
		s.writeOwner(id)
		s.noteOpened(id)
		return nil
	}
	s.mu.Lock()
	delete(s.held, id)
	s.mu.Unlock()
	if held := (*userfile.HeldError)(nil); errors.As(err, &held) {
		return &BusyError{ID: id, Owner: s.readOwner(id)}
	}
	return err
}

// hold reserves a session within this process, in which the lock of the file does not exclude a second
// caller on every system.
func (s *Store) hold(id string) (*userfile.Ranges, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, held := s.held[id]; held {
		return nil, &BusyError{ID: id, Owner: s.readOwner(id)}
	}
	if s.locks != nil && s.locks.Lost() {
		_ = s.locks.Close() // the file was removed, so no other process sees these locks
		s.locks = nil
	}
	if s.locks == nil {
		locks, err := userfile.OpenRanges(filepath.Join(s.o.Dir, locksName))
		if err != nil {
			return nil, err
		}
		s.locks = locks
	}
	s.held[id] = func() {}
	return s.locks, nil
}

// unlock unlocks a session.
func (s *Store) unlock(id string) {
	_ = userfile.Remove(s.path(id, ownerEnd)) // the lock is what counts
	s.mu.Lock()
	unlock := s.held[id]
	delete(s.held, id)
	s.mu.Unlock()
	if unlock != nil {
		unlock()
	}
}

// writeOwner writes which process has the session open. A failure only keeps that from a BusyError.
func (s *Store) writeOwner(id string) {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	data, err := encode(Owner{PID: os.Getpid(), Host: host, Since: s.o.Now()})
	if err != nil {
		return
	}
	f, err := userfile.Open(s.path(id, ownerEnd), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return
	}
	_, _ = f.Write(data)
	_ = f.Close()
}

func (s *Store) readOwner(id string) (owner Owner) {
	const most = 4 << 10
	if data, err := userfile.Read(s.path(id, ownerEnd), most); err == nil {
		_ = json.Unmarshal(data, &owner) // while it is being written, it names no process
	}
	return owner
}

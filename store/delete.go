package store

import (
	"errors"
	"io/fs"
	"os"

	"acp-agent/internal/userfile"
)

// ErrNoMessage reports a message that a session does not have, or that is hidden.
var ErrNoMessage = errors.New("the session has no such message")

// Delete removes a session, its inspectable subagents, and the blobs that no other session refers to. It
// does nothing when the session is not stored. The error is a *BusyError when the session is open.
func (s *Store) Delete(id string) error {
	if s == nil || checkID(id) != nil {
		return nil
	}
	name := s.path(id, recordEnd)
	if userfile.Missing(name) && userfile.Missing(s.path(id, blobsEnd)) && userfile.Missing(s.path(id, liveEnd)) {
		return nil
	}
	if err := s.lock(id); err != nil {
		return err
	}
	children := s.inspectable(id)
	err := s.removeFiles(id)
	s.unlock(id)
	for _, child := range children {
		err = errors.Join(err, s.Delete(child))
	}
	return err
}

// inspectable are the sessions of a session's subagents.
func (s *Store) inspectable(id string) []string {
	st, err := s.Load(id)
	if err != nil {
		return nil
	}
	f, err := userfile.Open(st.path, os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	var children []string
	for _, form := range st.childRecords(&spanReader{f: f}) {
		record := &form.Record
		if !record.Inspectable || record.ID == id {
			continue
		}
		// A fork refers to the inspectable subagents of its original: they are not its own.
		if child, err := s.Load(record.ID); err == nil && child.Info.ParentID == id {
			children = append(children, record.ID)
		}
	}
	return children
}

// removeFiles removes all of a session's files, its record first: without that, what a crash leaves is no
// session.
func (s *Store) removeFiles(id string) error {
	err := userfile.Remove(s.path(id, recordEnd))
	err = errors.Join(err, userfile.Remove(s.path(id, liveEnd)), s.removeBlobs(id))
	userfile.SyncDir(s.o.Dir)
	s.cache.forget(id)
	return err
}

// joinFailed joins the error of a deletion with the one that led to it. It is no error that there was
// nothing to delete.
func joinFailed(err, other error) error {
	if other == nil || errors.Is(other, fs.ErrNotExist) {
		return err
	}
	return errors.Join(err, other)
}

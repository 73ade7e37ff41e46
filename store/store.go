package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/userfile"
	"acp-agent/transcript"
)

// Options are what a Store is made of.
type Options struct {
	// Dir is the absolute path of the directory of all sessions. It is created when the first session
	// is stored.
	Dir string
	// Clean removes secrets from a text; nil leaves texts as they are.
	Clean func(string) string
	// IDs makes the ids of forks; nil means an IDs of the store's own.
	IDs *transcript.IDs
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// LockWait is how long Open and Delete wait for another process to release a session;
	// zero means 500 ms, which covers an agent that is just exiting.
	LockWait time.Duration
	// GroupDelay is how long deltas are collected before they are written; zero means 50 ms.
	GroupDelay time.Duration

	open opener // of a session's files; nil means userfile.Open
}

// Store is the directory of the stored sessions. It touches no disk before the first call that has to. A
// nil *Store stores nothing and has no sessions. Its methods are safe for concurrent use, also by several
// processes.
type Store struct {
	o      Options
	cleans bool // Options.Clean was given

	mu    sync.Mutex        // guards locks and held
	locks *userfile.Ranges  // nil until the first lock
	held  map[string]func() // functions that unlock the sessions that this Store has locked
	cache listCache

	compressors sync.Pool // of *compressor
}

// New returns a store. It touches no disk.
func New(o Options) *Store {
	cleans := o.Clean != nil
	if !cleans {
		o.Clean = func(text string) string { return text }
	} else {
		o.Clean = cleanLong(o.Clean)
	}
	if o.IDs == nil {
		o.IDs = &transcript.IDs{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LockWait == 0 {
		o.LockWait = 500 * time.Millisecond
	}
	if o.GroupDelay == 0 {
		o.GroupDelay = 50 * time.Millisecond
	}
	if o.open == nil {
		o.open = func(path string, flags int) (sessionFile, error) { return userfile.Open(path, flags) }
	}
	return &Store{o: o, cleans: cleans, held: map[string]func(){}}
}

// Close releases all locks. Recorders are closed before.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.locks == nil {
		return nil
	}
	err := s.locks.Close()
	s.locks = nil
	return err
}

// ErrNotFound reports a session that is not stored.
var ErrNotFound = errors.New("no such session is stored")

// sessionFile is what a recorder needs of a file, for tests with failing disks.
type sessionFile interface {
	ReadAt(p []byte, at int64) (int, error)
	Write(p []byte) (int, error)
	WriteAt(p []byte, at int64) (int, error)
	Sync() error
	Truncate(size int64) error
	Stat() (os.FileInfo, error)
	Close() error
}

type opener func(path string, flags int) (sessionFile, error)

// The ends of the names of a session's files, after its id.
const (
	recordEnd = ".jsonl"
	liveEnd   = ".live"  // text parts that still grow
	ownerEnd  = ".owner" // which process has the session open
	blobsEnd  = ".blobs" // links to the blobs that it refers to
)

func (s *Store) path(id, end string) string { return filepath.Join(s.o.Dir, id+end) }

// checkID returns an error for an id that cannot be part of a file's name.
func checkID(id string) error {
	const legal = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	if id == "" || len(id) > 100 || strings.Trim(id, legal) != "" {
		return fmt.Errorf("session id %q is not valid: %w", id, ErrNotFound)
	}
	return nil
}

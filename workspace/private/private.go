package private

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"

	"acp-agent/internal/pathname"
	"acp-agent/internal/userfile"
)

// Dir is the private directory of one session. Its name is fixed from the start and
// cannot be guessed; it is created with its first use, and locked from then on, so that
// a sweep of another process leaves it alone (R107). It is safe for concurrent use.
type Dir struct {
	parent string // "" when the parent is the system's temporary directory
	path   string

	mu      sync.Mutex
	lock    *flock.Flock
	own     *os.Root // the directory; nil until it is created, and after it is removed
	scratch *os.Root
	images  *os.Root // of the journal; nil until its first use
	within  fs.FileInfo
	removed bool
}

// Names in a private directory.
const (
	// RunName is for what commands and their helpers are handed, and for what a sweep reads.
	RunName     = "run"
	scratchName = "scratch"
	tmpName     = "tmp"
	readingName = "reading" // of commands that only read, each with a directory of its own
	imagesName  = "journal"
	lockName    = "lock"
)

// New names a session's directory below stateDir, which must be absolute; empty means
// the system's temporary directory. A session that goes on gets the name that it had, former,
// again; what a killed process left there is swept before. New creates nothing.
func New(stateDir, session, former string) (*Dir, error) {
	name := session + "-" + strings.ToLower(rand.Text())
	if len(former) == len(name) && strings.HasPrefix(former, session+"-") && strings.Trim(former[len(session)+1:], suffixLetters) == "" {
		name = former
	}
	if stateDir == "" {
		return &Dir{path: filepath.Join(os.TempDir(), "acp-agent-"+name)}, nil
	}
	if !filepath.IsAbs(stateDir) {
		return nil, fmt.Errorf("state directory %q is not an absolute path", stateDir)
	}
	parent := filepath.Clean(stateDir)
	return &Dir{parent: parent, path: filepath.Join(parent, name)}, nil
}

// suffixLetters are those of the random end of a directory's name.
const suffixLetters = "abcdefghijklmnopqrstuvwxyz234567"

// Name is the directory's name below its parent.
func (d *Dir) Name() string { return filepath.Base(d.path) }

// Path is the directory's path, whether it exists or not.
func (d *Dir) Path() string { return d.path }

// Parent is the directory that holds the directories of all sessions; "" when that is the
// system's temporary directory.
func (d *Dir) Parent() string { return d.parent }

// Scratch is the directory that the model may use as it likes.
func (d *Dir) Scratch() string { return filepath.Join(d.path, scratchName) }

// Run is the directory for what commands and their helpers are handed.
func (d *Dir) Run() string { return filepath.Join(d.path, RunName) }

// Tmp is the directory for temporary files that commands share.
func (d *Dir) Tmp() string { return filepath.Join(d.path, tmpName) }

// Closed are the parts of the directory that commands must not see.
func (d *Dir) Closed() []string {
	return []string{d.Run(), filepath.Join(d.path, imagesName), filepath.Join(d.path, readingName)}
}

// Contains reports whether a path is meant to lie in the directory. It decides
// only that the directory is created, never that a path is allowed.
func (d *Dir) Contains(abs string) bool { return pathname.Contains(d.path, abs) }

// Handles are the directory and its scratch directory as they are held open; nil
// before the directory is created and after it is removed.
func (d *Dir) Handles() (own, scratch *os.Root) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.own, d.scratch
}

// ParentInfo identifies the common parent of all sessions' directories; nil
// when there is none.
func (d *Dir) ParentInfo() fs.FileInfo {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.within == nil && d.parent != "" {
		if info, err := os.Stat(d.parent); err == nil {
			d.within = info
		}
	}
	return d.within
}

// lockTries is how often a directory is created anew when a sweep takes it away
// between its creation and its lock.
const lockTries = 100

// Create creates and locks the directory, once.
func (d *Dir) Create() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.removed:
		return errClosed
	case d.own != nil:
		return nil
	}
	if d.parent != "" {
		if err := userfile.MakeDir(d.parent); err != nil {
			return err
		}
	}
	var err error
	for range lockTries {
		if err = d.claim(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("create session directory: %w", err)
	}
	return d.open()
}

var errClosed = errors.New("the session is closed")

// claim makes the directory and locks it. A sweep may hold the lock and be
// removing it: then it is gone afterwards.
func (d *Dir) claim() error {
	if err := os.Mkdir(d.path, 0o700); err != nil {
		return err
	}
	lock := newLock(d.path)
	if err := lock.Lock(); err != nil {
		return err
	}
	err := sameLock(lock)
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	d.lock = lock
	return nil
}

// sameLock reports that the file that was locked is the one that has its name.
func sameLock(lock *flock.Flock) error {
	named, err := os.Lstat(lock.Path())
	if err != nil {
		return err
	}
	mine, err := lock.Stat()
	if err == nil && !os.SameFile(named, mine) {
		err = fs.ErrNotExist
	}
	return err
}

func newLock(dir string) *flock.Flock {
	return flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
}

func (d *Dir) open() error {
	for _, name := range []string{scratchName, RunName, tmpName, readingName} {
		if err := os.Mkdir(filepath.Join(d.path, name), 0o700); err != nil {
			return err
		}
	}
	own, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	scratch, err := own.OpenRoot(scratchName)
	if err != nil {
		return errors.Join(err, own.Close())
	}
	d.own, d.scratch = own, scratch
	return nil
}

// CommandTmp makes a directory for the temporary files of one command, which remove
// deletes with all that is in it. "" means that there is none.
func (d *Dir) CommandTmp() (dir string, remove func()) {
	name := filepath.Join(readingName, rand.Text())
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.own == nil || d.own.Mkdir(name, 0o700) != nil {
		return "", func() {}
	}
	own := d.own
	// What stays goes with the session's directory.
	return filepath.Join(d.path, name), func() { _ = own.RemoveAll(name) }
}

// Images opens the directory of the journal's pre-images, creating it on its first use.
func (d *Dir) Images() (*os.Root, error) {
	if err := d.Create(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.removed:
		return nil, errClosed
	case d.images != nil:
		return d.images, nil
	}
	if err := d.own.Mkdir(imagesName, 0o700); err != nil {
		return nil, err
	}
	images, err := d.own.OpenRoot(imagesName)
	d.images = images
	return images, err
}

// Remove deletes the directory, never through a link, and releases the lock.
func (d *Dir) Remove() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.removed = true
	if d.lock == nil {
		return
	}
	for _, handle := range []*os.Root{d.own, d.scratch, d.images} {
		if handle != nil {
			_ = handle.Close() // only ever worked through
		}
	}
	d.own, d.scratch, d.images = nil, nil, nil
	discard(d.path, d.lock)
	d.lock = nil
}

// discard removes a session's directory whose lock is held. The lock file goes
// last: what is left of a removal that failed can be swept later.
func discard(dir string, lock *flock.Flock) {
	if handle, err := os.OpenRoot(dir); err == nil {
		if entries, err := fs.ReadDir(handle.FS(), "."); err == nil {
			for _, entry := range entries {
				if entry.Name() != lockName {
					_ = handle.RemoveAll(entry.Name()) // what stays is swept later
				}
			}
		}
		_ = handle.Close()
	}
	removeLocked(dir, lock)
}

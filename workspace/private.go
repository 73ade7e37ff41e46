package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gofrs/flock"

	"acp-agent/internal/pathname"
	"acp-agent/internal/userfile"
)

// private is the session's own directory: sidecars, scratch, and what a
// command's helper is handed. Its name is fixed from the start and cannot be
// guessed; it is created with its first use, and locked from then on, so that
// a sweep of another process leaves it alone (R107).
type private struct {
	parent string // "" when the parent is the system's temporary directory
	dir    string
	quota  atomic.Int64 // bytes that sidecars may still take

	mu      sync.Mutex
	lock    *flock.Flock
	opened  []*root // the directory, then scratch
	temps   *os.File
	fresh   map[string]struct{} // directories that were made for a file, see keepDirs
	images  *os.Root            // of the journal; nil until its first use
	within  fs.FileInfo
	removed bool
}

const (
	scratchName = "scratch"
	runName     = "run"
	tmpName     = "tmp"
	readingName = "reading" // of commands that only read, each with a directory of its own
	imagesName  = "journal"
	lockName    = "lock"
)

func (p *private) name(stateDir, session string) error {
	name := session + "-" + strings.ToLower(rand.Text())
	if stateDir == "" {
		p.dir = filepath.Join(os.TempDir(), "acp-agent-"+name)
		return nil
	}
	if !filepath.IsAbs(stateDir) {
		return fmt.Errorf("state directory %q is not an absolute path", stateDir)
	}
	p.parent = filepath.Clean(stateDir)
	p.dir = filepath.Join(p.parent, name)
	return nil
}

func (p *private) scratch() string { return filepath.Join(p.dir, scratchName) }

// holds reports whether a path is meant to lie in the directory. It decides
// only that the directory is made, never that a path is allowed.
func (p *private) holds(abs string) bool {
	return pathname.Contains(p.dir, abs)
}

func (p *private) roots() []*root {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]*root(nil), p.opened...)
}

// parentInfo identifies the common parent of all sessions' directories; nil
// when there is none.
func (p *private) parentInfo() fs.FileInfo {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.within == nil && p.parent != "" {
		if info, err := os.Stat(p.parent); err == nil {
			p.within = info
		}
	}
	return p.within
}

// lockTries is how often a directory is made anew when a sweep takes it away
// between its creation and its lock.
const lockTries = 100

// create makes and locks the directory, once.
func (p *private) create() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.removed:
		return p.gone()
	case p.opened != nil:
		return nil
	}
	if p.parent != "" {
		if err := userfile.MakeDir(p.parent); err != nil {
			return err
		}
	}
	var err error
	for range lockTries {
		if err = p.claim(); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("create session directory: %w", err)
	}
	return p.open()
}

// claim makes the directory and locks it. A sweep may hold the lock and be
// removing it: then it is gone afterwards.
func (p *private) claim() error {
	if err := os.Mkdir(p.dir, 0o700); err != nil {
		return err
	}
	lock := newLock(p.dir)
	if err := lock.Lock(); err != nil {
		return err
	}
	err := sameLock(lock)
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	p.lock = lock
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

func (p *private) open() error {
	for _, name := range []string{scratchName, runName, tmpName, readingName} {
		if err := os.Mkdir(filepath.Join(p.dir, name), 0o700); err != nil {
			return err
		}
	}
	own, err := openRoot(p.dir)
	if err != nil {
		return err
	}
	scratch, err := openRoot(p.scratch())
	if err != nil {
		return errors.Join(err, own.handle.Close())
	}
	// Without this list a crash may leave a temporary file behind, no more.
	p.temps, _ = own.handle.OpenFile(filepath.Join(runName, tempsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	own.own, scratch.own, scratch.write = true, true, true
	p.opened = []*root{own, scratch}
	return nil
}

// makeTmp makes a directory for the temporary files of one command, which remove takes
// away with all that is in it. "" means that there is none.
func (p *private) makeTmp() (dir string, remove func()) {
	name := filepath.Join(readingName, rand.Text())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened == nil {
		return "", func() {}
	}
	own := p.opened[0].handle
	if own.Mkdir(name, 0o700) != nil {
		return "", func() {}
	}
	// What stays goes with the session's directory.
	return filepath.Join(p.dir, name), func() { _ = own.RemoveAll(name) }
}

// journal opens the directory of the pre-images, making it on its first use.
func (p *private) journal() (*os.Root, error) {
	if err := p.create(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.images != nil || p.opened == nil {
		return p.images, p.gone()
	}
	own := p.opened[0].handle
	if err := own.Mkdir(imagesName, 0o700); err != nil {
		return nil, err
	}
	images, err := own.OpenRoot(imagesName)
	p.images = images
	return images, err
}

func (p *private) gone() error {
	if p.removed {
		return errors.New("the session is closed")
	}
	return nil
}

// remove deletes the directory, never through a link, and lets go of the lock.
func (p *private) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removed = true
	if p.lock == nil {
		return
	}
	for _, r := range p.opened {
		_ = r.handle.Close()
	}
	p.opened = nil
	if p.images != nil {
		_ = p.images.Close() // only ever worked through
		p.images = nil
	}
	if p.temps != nil {
		_ = p.temps.Close()
		p.temps = nil
	}
	discard(p.dir, p.lock)
	p.lock = nil
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

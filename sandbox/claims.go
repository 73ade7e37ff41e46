package sandbox

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"acp-agent/internal/userfile"
)

// claims are the directories that this process holds, in a file that it keeps locked:
// the lock says that the process lives, and ends with it. A nil one keeps nothing.
type claims struct {
	file *os.File
	lock *flock.Flock
}

const (
	claimsSuffix = ".held"
	claimsLock   = "lock"
	claimsWait   = 5 * time.Second
	maxClaims    = 1 << 20
)

// claim is one line: a directory that is about to be made, or one that is let go.
type claim struct {
	Dir  string `json:"dir"`
	Gone bool   `json:"gone,omitempty"`
}

// lockClaims lets one process at a time make, remove and look.
func lockClaims(dir string) (unlock func(), err error) {
	if err := userfile.MakeDir(dir); err != nil {
		return nil, err
	}
	return userfile.Lock(context.Background(), filepath.Join(dir, claimsLock), claimsWait)
}

// openClaims makes the file of this process; the caller holds the lock of all claims.
// Without the file a kill leaves empty directories, no more.
func openClaims(dir string) *claims {
	path := filepath.Join(dir, strings.ToLower(rand.Text())+claimsSuffix)
	file, err := userfile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND)
	if err != nil {
		return nil
	}
	lock := flock.New(path)
	if taken, err := lock.TryLock(); err != nil || !taken {
		_ = file.Close()
		_ = os.Remove(path)
		return nil
	}
	return &claims{file: file, lock: lock}
}

func (c *claims) add(dir string)  { c.write(claim{Dir: dir}) }
func (c *claims) drop(dir string) { c.write(claim{Dir: dir, Gone: true}) }

func (c *claims) write(line claim) {
	if c == nil {
		return
	}
	if text, err := json.Marshal(line); err == nil {
		_, _ = c.file.Write(append(text, '\n')) // see openClaims
	}
}

// clear empties the file once nothing is held.
func (c *claims) clear() {
	if c != nil {
		_ = c.file.Truncate(0)
	}
}

// close removes the file; the process holds nothing any more, or is about to end.
func (c *claims) close() {
	if c != nil {
		_ = c.file.Close()
		if info, err := os.Stat(c.lock.Path()); err == nil && info.Size() == 0 {
			_ = os.Remove(c.lock.Path())
		}
		_ = c.lock.Close()
	}
}

// processClaims is what one process holds, in the order of making.
type processClaims struct {
	name  string
	dirs  []string
	alive bool
}

// claimsOfAll is what the processes hold.
type claimsOfAll []processClaims

func (a claimsOfAll) any(dir string) bool {
	return slices.ContainsFunc(a, func(c processClaims) bool { return slices.Contains(c.dirs, dir) })
}

func (a claimsOfAll) alive(dir string) bool {
	return slices.ContainsFunc(a, func(c processClaims) bool { return c.alive && slices.Contains(c.dirs, dir) })
}

// readClaims reads what all processes but the one of own hold; the caller holds the
// lock of all claims.
func readClaims(dir string, own *claims) claimsOfAll {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var all claimsOfAll
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if !strings.HasSuffix(entry.Name(), claimsSuffix) || own != nil && own.lock.Path() == path {
			continue
		}
		text, err := userfile.Read(path, maxClaims)
		if err != nil {
			continue // not ours
		}
		all = append(all, processClaims{name: entry.Name(), dirs: claimedBy(string(text)), alive: locked(path)})
	}
	return all
}

// claimedBy are the directories that the lines of a file leave held.
func claimedBy(text string) []string {
	var dirs []string
	for line := range strings.Lines(text) {
		var c claim
		switch {
		case json.Unmarshal([]byte(line), &c) != nil || !filepath.IsAbs(c.Dir): // such as a line that was cut off
		case c.Gone:
			dirs = slices.DeleteFunc(dirs, func(dir string) bool { return dir == c.Dir })
		default:
			dirs = append(dirs, c.Dir)
		}
	}
	return dirs
}

// locked reports whether a process holds the lock of a file.
func locked(path string) bool {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	lock := flock.New(path)
	defer lock.Close()
	taken, err := lock.TryLock()
	return err != nil || !taken
}

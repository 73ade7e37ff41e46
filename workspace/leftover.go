package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/workspace/private"
)

// tempsName is the file, in the session's directory, that lists the temporary
// files that its writes made beside their targets, and the directories that they
// made for new files. The temporary files are gone again after each write; after a
// kill in the middle of one, the sweep removes what is left.
const tempsName = "temps"

// leftover is a line of the list.
type leftover struct {
	// Temp is a temporary file, Dir a directory that is made for a new file.
	Temp string `json:"temp,omitempty"`
	Dir  string `json:"dir,omitempty"`
	// Kept says that the directory has got its file.
	Kept bool `json:"kept,omitempty"`
}

// leftovers is the list of one session. It is safe for concurrent use.
type leftovers struct {
	dir *private.Dir

	mu    sync.Mutex
	file  *os.File
	tried bool
	fresh map[string]struct{} // directories that were made for a file, see keepDirs
}

// remember notes a temporary file that is about to be made. Without a note the
// write goes on: only a kill at that instant would leave the file behind.
func (l *leftovers) remember(path string) { l.note(leftover{Temp: path}) }

// rememberDir is remember for a directory that is about to be made.
func (l *leftovers) rememberDir(path string) {
	l.note(leftover{Dir: path})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh == nil {
		l.fresh = map[string]struct{}{}
	}
	l.fresh[path] = struct{}{}
}

// keepDirs notes that the directories above a file have got it, and stay.
func (l *leftovers) keepDirs(path string) {
	for dir := filepath.Dir(path); l.isFresh(dir); dir = filepath.Dir(dir) {
		l.note(leftover{Dir: dir, Kept: true})
	}
}

// isFresh reports whether a directory was made for a file that it has not got yet,
// and forgets that.
func (l *leftovers) isFresh(dir string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, fresh := l.fresh[dir]
	delete(l.fresh, dir)
	return fresh
}

func (l *leftovers) note(entry leftover) {
	if l.dir.Create() != nil {
		return
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if file := l.open(); file != nil {
		_, _ = file.Write(append(line, '\n'))
	}
}

// open opens the list on its first use. Without it a crash may leave a temporary file
// behind, no more. The caller holds mu.
func (l *leftovers) open() *os.File {
	own, _ := l.dir.Handles()
	if l.file != nil || l.tried || own == nil {
		return l.file
	}
	l.tried = true
	l.file, _ = own.OpenFile(filepath.Join(private.RunName, tempsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return l.file
}

// close closes the list. It comes before the private directory is removed.
func (l *leftovers) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried = true
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

func siblingOf(p *place, name string) string { return filepath.Join(filepath.Dir(p.real()), name) }

// clearLeftovers removes the temporary files that a dead session's list names, and
// the directories that never got the file they were made for. The list decides no
// more than that files of our own naming, and empty directories, are removed.
func clearLeftovers(dir string) {
	list, err := os.ReadFile(filepath.Join(dir, private.RunName, tempsName))
	if err != nil {
		return
	}
	var fresh []string
	for line := range strings.Lines(string(list)) {
		var l leftover
		switch {
		case json.Unmarshal([]byte(line), &l) != nil: // such as a last line that was cut off
		case filepath.IsAbs(l.Temp):
			removeTemp(filepath.Split(l.Temp))
		case !filepath.IsAbs(l.Dir):
		case l.Kept:
			fresh = slices.DeleteFunc(fresh, func(dir string) bool { return dir == l.Dir })
		default:
			fresh = append(fresh, l.Dir)
		}
	}
	for _, dir := range slices.Backward(fresh) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			_ = os.Remove(dir) // fails where something lies in it
		}
	}
}

func removeTemp(dir, name string) {
	if !tempName.MatchString(name) {
		return
	}
	parent, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer parent.Close()
	if info, err := parent.Lstat(name); err == nil && info.Mode().IsRegular() {
		_ = parent.Remove(name) // what stays is a file that we may not remove
	}
}

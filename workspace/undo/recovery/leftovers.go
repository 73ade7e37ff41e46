package recovery

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"

	"acp-agent/workspace/private"
)

// tempsName is the file, in the session's directory, that lists the temporary files
// which a session writes beside their targets, and the directories which it makes for
// new files. A live session removes the temporary files itself after each write.
const tempsName = "temps"

// leftover is a line of the list.
type leftover struct {
	// Temp is a temporary file, Dir a directory that is made for a new file.
	Temp string `json:"temp,omitempty"`
	Dir  string `json:"dir,omitempty"`
	// Kept says that the directory has got its file.
	Kept bool `json:"kept,omitempty"`
}

// Leftovers is the list of one session. It is safe for concurrent use.
type Leftovers struct {
	dir *private.Dir

	mu    sync.Mutex
	file  *os.File
	tried bool
	fresh map[string]struct{} // directories that were made for a file, see KeepDirs
}

// NewLeftovers makes the list of a session. The file is created on its first use.
func NewLeftovers(dir *private.Dir) *Leftovers {
	return &Leftovers{dir: dir, fresh: map[string]struct{}{}}
}

// Temp notes a temporary file that is about to be created. Without a note the write
// goes on: only a kill at that instant would leave the file there.
func (l *Leftovers) Temp(path string) { l.note(leftover{Temp: path}) }

// Dir notes a directory that is about to be made for a new file.
func (l *Leftovers) Dir(path string) {
	l.note(leftover{Dir: path})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fresh[path] = struct{}{}
}

// KeepDirs notes that the directories above a file have got it, and stay.
func (l *Leftovers) KeepDirs(path string) {
	for dir := filepath.Dir(path); l.takeFresh(dir); dir = filepath.Dir(dir) {
		l.note(leftover{Dir: dir, Kept: true})
	}
}

// takeFresh forgets a directory that was made for a file and has not got it yet. It
// reports whether there was one.
func (l *Leftovers) takeFresh(dir string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, fresh := l.fresh[dir]
	delete(l.fresh, dir)
	return fresh
}

func (l *Leftovers) note(entry leftover) {
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
// there, no more. The caller holds mu.
func (l *Leftovers) open() *os.File {
	own, _ := l.dir.Handles()
	if l.file != nil || l.tried || own == nil {
		return l.file
	}
	l.tried = true
	l.file, _ = own.OpenFile(filepath.Join(private.RunName, tempsName), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	return l.file
}

// Close closes the list. It comes before the private directory is removed.
func (l *Leftovers) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tried = true
	if l.file != nil {
		_ = l.file.Close()
		l.file = nil
	}
}

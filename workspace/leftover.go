package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// remember notes a temporary file that is about to be made. Without a note the
// write goes on: only a kill at that instant would leave the file behind.
func (p *private) remember(path string) { p.note(leftover{Temp: path}) }

// rememberDir is remember for a directory that is about to be made.
func (p *private) rememberDir(path string) {
	p.note(leftover{Dir: path})
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fresh == nil {
		p.fresh = map[string]struct{}{}
	}
	p.fresh[path] = struct{}{}
}

// keepDirs notes that the directories above a file have got it, and stay.
func (p *private) keepDirs(path string) {
	for dir := filepath.Dir(path); p.isFresh(dir); dir = filepath.Dir(dir) {
		p.note(leftover{Dir: dir, Kept: true})
	}
}

// isFresh reports whether a directory was made for a file that it has not got yet,
// and forgets that.
func (p *private) isFresh(dir string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, fresh := p.fresh[dir]
	delete(p.fresh, dir)
	return fresh
}

func (p *private) note(l leftover) {
	if p.create() != nil {
		return
	}
	line, err := json.Marshal(l)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.temps != nil {
		_, _ = p.temps.Write(append(line, '\n'))
	}
}

func siblingOf(p *place, name string) string { return filepath.Join(filepath.Dir(p.real()), name) }

// clearLeftovers removes the temporary files that a dead session's list names, and
// the directories that never got the file they were made for. The list decides no
// more than that files of our own naming, and empty directories, are removed.
func clearLeftovers(dir string) {
	list, err := os.ReadFile(filepath.Join(dir, runName, tempsName))
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

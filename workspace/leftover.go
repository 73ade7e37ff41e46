package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// tempsName is the file, in the session's directory, that lists the temporary
// files that its writes made beside their targets. They are gone again after
// each write; after a kill in the middle of one, the sweep removes what is left.
const tempsName = "temps"

// remember notes a temporary file that is about to be made. Without a note the
// write goes on: only a kill at that instant would leave the file behind.
func (p *private) remember(path string) {
	if p.create() != nil {
		return
	}
	line, err := json.Marshal(path)
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

// clearLeftovers removes the temporary files that a dead session's list names.
// The list decides no more than that one file of our own naming is removed: not
// a link, not a directory.
func clearLeftovers(dir string) {
	list, err := os.ReadFile(filepath.Join(dir, runName, tempsName))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(list)) {
		var path string
		if json.Unmarshal([]byte(line), &path) != nil || !filepath.IsAbs(path) {
			continue // such as a last line that was cut off
		}
		removeTemp(filepath.Split(path))
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

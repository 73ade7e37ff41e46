package workspace

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// leftover is a note that a write has a temporary file beside its target. It
// stands in the session's directory as long as the temporary file may exist,
// so that the sweep after a crash finds and removes it.
type leftover struct {
	private *private
	name    string
}

const leftoverPrefix = "temp-"

// remember notes a temporary file that is about to be made. Without a note the
// write goes on: only a kill at that instant would leave the file behind.
func (p *private) remember(path string) *leftover {
	if p.create() != nil {
		return nil
	}
	opened := p.roots()
	body, err := json.Marshal(path)
	if err != nil || len(opened) == 0 {
		return nil
	}
	name := leftoverPrefix + filepath.Base(path)
	if opened[0].handle.WriteFile(filepath.Join(runName, name), body, 0o600) != nil {
		return nil
	}
	return &leftover{private: p, name: name}
}

// forget removes the note.
func (l *leftover) forget() {
	if l == nil {
		return
	}
	if opened := l.private.roots(); len(opened) > 0 {
		_ = opened[0].handle.Remove(filepath.Join(runName, l.name)) // swept with its directory
	}
}

func siblingOf(p *place, name string) string { return filepath.Join(filepath.Dir(p.real()), name) }

// clearLeftovers removes the temporary files that a dead session's notes name.
// A note decides no more than that one file of our own naming is removed: not a
// link, not a directory.
func clearLeftovers(dir string) {
	notes := filepath.Join(dir, runName)
	entries, err := os.ReadDir(notes)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name, isNote := strings.CutPrefix(entry.Name(), leftoverPrefix)
		if !isNote || !entry.Type().IsRegular() || !tempName.MatchString(name) {
			continue
		}
		body, err := os.ReadFile(filepath.Join(notes, entry.Name()))
		if err != nil {
			continue
		}
		var path string
		if json.Unmarshal(body, &path) != nil || !filepath.IsAbs(path) || filepath.Base(path) != name {
			continue
		}
		parent, err := os.OpenRoot(filepath.Dir(path))
		if err != nil {
			continue
		}
		if info, err := parent.Lstat(name); err == nil && info.Mode().IsRegular() {
			_ = parent.Remove(name)
		}
		_ = parent.Close()
	}
}

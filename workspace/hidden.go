package workspace

import (
	"os"
	"path/filepath"
)

// Bounds of the search for files that are hidden from commands.
const (
	hiddenDepth   = 3
	hiddenEntries = 2000
)

// secretFiles looks for what is hidden from commands, near the top of the session's
// directories: where such files usually lie, and no deeper than can be afforded
// before each command.
func (w *Workspace) secretFiles() []string {
	if w.o.Hidden == nil {
		return nil
	}
	var found []string
	left := hiddenEntries
	for _, r := range w.fixed[:w.session] {
		found = append(found, w.hiddenIn(r.path, hiddenDepth, &left)...)
	}
	return found
}

func (w *Workspace) hiddenIn(dir string, depth int, left *int) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []string
	for _, entry := range entries {
		if *left--; *left < 0 {
			return found
		}
		path, name := filepath.Join(dir, entry.Name()), entry.Name()
		switch {
		case !entry.IsDir():
			if w.o.Hidden(path) {
				found = append(found, path)
			}
		case depth > 1 && name != "node_modules" && name != "vendor" && name[0] != '.':
			found = append(found, w.hiddenIn(path, depth-1, left)...)
		}
	}
	return found
}

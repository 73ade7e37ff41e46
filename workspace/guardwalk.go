package workspace

import (
	"path"
	"path/filepath"
	"time"
)

// maxWalk bounds the time of one look for further names in a root.
const maxWalk = 50 * time.Millisecond

// found is what lies in a root, as far as it was looked through.
type found struct {
	// names are the protected names but for those that are looked at in ways of their own,
	// repos the repositories.
	names, repos []string
	// dirs are the directories that were looked at; of more is known that there are others.
	dirs map[string]bool
	more bool
}

// walkIn looks for further names in a root, as deep as the time allows. A second walk
// does not look where the first one did not come to: what is there may not be new.
func (g *guard) walkIn(r *root, first *found) *found {
	w := &found{dirs: map[string]bool{}}
	if g.protected == nil {
		return w
	}
	end := time.Now().Add(maxWalk)
	for dirs := []string{"."}; len(dirs) > 0; dirs = dirs[1:] {
		if w.more = time.Now().After(end); w.more {
			break
		}
		if first == nil || !first.more || first.dirs[dirs[0]] {
			dirs = append(dirs, g.walkDir(r, dirs[0], w)...)
		}
	}
	return w
}

// walkDir looks at one directory and returns those in it.
func (g *guard) walkDir(r *root, dir string, w *found) (below []string) {
	f, err := r.handle.Open(filepath.FromSlash(dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	w.dirs[dir] = true
	entries, _ := f.ReadDir(-1) // what cannot be listed cannot be put back either
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		switch {
		case name == ".git", name == ".acp-agent", name == ".agents":
		case entry.Name() == ".git":
			w.repos = append(w.repos, name)
		case g.protected(filepath.Join(r.path, filepath.FromSlash(name))):
			w.names = append(w.names, name)
		case entry.IsDir() && entry.Name() != "node_modules":
			below = append(below, name)
		}
	}
	return below
}

package recovery

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/rootfile"
	"acp-agent/workspace/private"
	"acp-agent/workspace/undo/journal"
)

// Resolve follows the links of an absolute path.
type Resolve func(path string) (real string, err error)

// Sweep undoes what a dead session left half done, as the notes in its private
// directory say. The plans come first, because the temporary files hold the old texts.
func Sweep(dir string, resolve Resolve) {
	undoPlans(dir, resolve)
	clearLeftovers(dir)
}

// undoPlans renames back what a dead session was in the middle of renaming, so that
// all files of a batch are the old ones. A file that was changed since stays.
func undoPlans(dir string, resolve Resolve) {
	entries, err := os.ReadDir(filepath.Join(dir, private.RunName))
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), planPrefix) {
			continue
		}
		for _, step := range slices.Backward(readPlan(filepath.Join(dir, private.RunName, entry.Name()))) {
			step.undo(resolve)
		}
	}
}

func (s Step) undo(resolve Resolve) {
	dir, err := openUnmoved(filepath.Dir(s.Path), resolve)
	if err != nil {
		return
	}
	defer dir.Close()
	name, temp := filepath.Base(s.Path), filepath.Base(s.Temp)
	switch s.Kind {
	case Replace:
		if s.holdsNew(dir, name) && isFile(dir, temp) && !s.holdsNew(dir, temp) {
			if rootfile.Exchange(dir, temp, name) != nil {
				_ = dir.Rename(temp, name) // the new text goes
			}
		}
	case Create:
		if s.holdsNew(dir, name) {
			_ = dir.Remove(name)
		}
	case Remove:
		if isFile(dir, temp) {
			_ = PutBack(dir, temp, name)
		}
	case Rename:
		to, err := openUnmoved(filepath.Dir(s.To), resolve)
		if err != nil {
			return
		}
		defer to.Close()
		if _, err := dir.Lstat(name); errors.Is(err, fs.ErrNotExist) && isFile(to, filepath.Base(s.To)) {
			_ = rootfile.RenameNew(to, filepath.Base(s.To), dir, name) // where it fails the file keeps its new name
		}
	}
}

// openUnmoved opens a directory whose path had no links, and still has none.
func openUnmoved(path string, resolve Resolve) (*os.Root, error) {
	real, err := resolve(path)
	if err != nil {
		return nil, err
	}
	if real != path {
		return nil, fs.ErrNotExist
	}
	return os.OpenRoot(path)
}

func isFile(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	return err == nil && info.Mode()&(fs.ModeType&^fs.ModeSymlink) == 0
}

// holdsNew reports whether a name is a file that holds the new text.
func (s Step) holdsNew(dir *os.Root, name string) bool {
	if info, err := dir.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|rootfile.Nonblock, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	content, err := journal.Sum(f)
	return err == nil && content.Sum == s.New
}

// clearLeftovers removes the temporary files that a dead session's list names, and
// the directories that never got the file they were made for. The list decides no
// more than that files with names of our pattern, and empty directories, are removed.
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
	if !IsTempName(name) {
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

package command

import (
	"path/filepath"
	"slices"
	"strings"
)

// maxDirs bounds how many directories a set holds; more count as unknown.
const maxDirs = 8

// dirs is the set of directories in which a command may run. After "cd x; y", y runs in x or, if the
// cd failed, in the directory before it (C6).
type dirs struct {
	list    []string
	unknown bool
	// start says that the shell is still where it began, where ".." is the parent on the disk.
	start bool
}

func (d dirs) union(e dirs) dirs {
	if d.unknown || e.unknown {
		return dirs{unknown: true}
	}
	out := slices.Clone(d.list)
	for _, dir := range e.list {
		if !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	if len(out) > maxDirs {
		return dirs{unknown: true}
	}
	return dirs{list: out, start: d.start && e.start}
}

// join returns the absolute paths that a name may stand for. ok is false where the directory is not
// known.
func (d dirs) join(name string) (paths []string, ok bool) {
	if isAbs(name) {
		return []string{name}, true
	}
	if d.unknown {
		return nil, false
	}
	out := make([]string, 0, len(d.list))
	for _, dir := range d.list {
		if !isAbs(dir) {
			return nil, false
		}
		out = append(out, filepath.Join(dir, name))
	}
	return out, len(out) > 0
}

// isAbs reports an absolute path of the platform, or of the POSIX shell that runs the command.
func isAbs(name string) bool {
	return strings.HasPrefix(name, "/") || filepath.IsAbs(name)
}

package pathname

import (
	"path"
	"runtime"
	"slices"
	"strings"
)

// Dirs are many directories that are asked about many paths: [Dirs.Contain] takes as long as a path is deep, and
// not as there are directories.
type Dirs struct {
	all   []string
	clean map[string]bool
}

// NewDirs returns the directories as a set.
func NewDirs(dirs []string) Dirs {
	d := Dirs{all: dirs, clean: make(map[string]bool, len(dirs))}
	for _, dir := range dirs {
		if dir != "" {
			d.clean[path.Clean(dir)] = true
		}
	}
	return d
}

// Contain reports whether one of the directories contains a path, as [Contains] does.
func (d Dirs) Contain(name string) bool {
	if runtime.GOOS == "windows" || !strings.HasPrefix(name, "/") {
		return slices.ContainsFunc(d.all, func(dir string) bool { return Contains(dir, name) })
	}
	for at := path.Clean(name); ; at = path.Dir(at) {
		if d.clean[at] || at == "/" {
			return d.clean[at]
		}
	}
}

package gitdir

import (
	"path/filepath"
	"strings"
)

// maxAlternates bounds the file in which a repository names others.
const maxAlternates = 1 << 20

// Objects are the absolute directories in which a repository keeps the content of files, by the
// absolute directory of its own data: what it borrows of another is among them. Not all of them need
// exist.
func Objects(data string) []string {
	objects := filepath.Join(data, "objects")
	dirs := []string{objects, filepath.Join(data, "lfs")}
	if real, err := filepath.EvalSymlinks(objects); err == nil && real != objects {
		dirs = append(dirs, real)
	}
	// A list that cannot be read names none to git either.
	borrowed, _ := Read(filepath.Join(objects, "info", "alternates"), maxAlternates)
	for line := range strings.Lines(string(borrowed)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			dirs = append(dirs, resolve(objects, line))
		}
	}
	return dirs
}

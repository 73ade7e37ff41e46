package skills

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// place is a directory in which something is looked for.
type place struct {
	dir string
	// base is the directory, resolved, that links must not lead out of; "" lets
	// them lead anywhere, as a user's own may.
	base string
	// named says that the user named it, so that its absence is a mistake.
	named bool
}

// project is the directory of a session and what it belongs to.
type project struct {
	// dirs are the working directory and those above it, nearest first: up to
	// the repository's root, or to the file system's when there is none.
	dirs []string
	// repository says that the last of dirs is the root of a repository.
	repository bool
}

// projectOf walks upward from cwd. It stops below a directory that all users of
// the machine share, such as /tmp: any user may have put it there.
func projectOf(cwd string) project {
	var p project
	if !filepath.IsAbs(cwd) {
		return p
	}
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		if len(p.dirs) > 0 && (dir == p.dirs[len(p.dirs)-1] || shared(dir)) {
			return p
		}
		p.dirs = append(p.dirs, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			p.repository = true
			return p
		}
	}
}

// shared reports whether everybody may put files into dir beside those of
// others. The sticky bit tells that from directories that are merely open, as
// all are on some mounts.
func shared(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && runtime.GOOS != "windows" && info.Mode()&os.ModeSticky != 0 && info.Mode().Perm()&0o002 != 0
}

// places are the project's directories, nearest first. Within a repository
// links may lead wherever the repository does.
func (p project) places() []place {
	places := make([]place, len(p.dirs))
	for i, dir := range p.dirs {
		if p.repository {
			dir = p.dirs[len(p.dirs)-1]
		}
		places[i] = place{dir: p.dirs[i], base: resolved(dir)}
	}
	return places
}

// further are the places of the session's other roots.
func (p project) further(roots []string) []place {
	var places []place
	for _, root := range roots {
		known := func(p place) bool { return p.dir == root }
		if filepath.IsAbs(root) && !slices.Contains(p.dirs, root) && !slices.ContainsFunc(places, known) {
			places = append(places, place{dir: root, base: resolved(root)})
		}
	}
	return places
}

// resolved is dir without links, or dir itself when it cannot be resolved:
// nothing will be found in it then.
func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

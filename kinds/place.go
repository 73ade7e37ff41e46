package kinds

import (
	"path/filepath"
	"strings"
)

// Place is where a session works: what titles are made relative to.
type Place struct {
	// Cwd is the session's directory, absolute.
	Cwd string
	// Home is the user's home directory; "" leaves "~" as it stands.
	Home string
}

// Abs turns a path as a model writes it ("~/x", "a/b", "/c") into an absolute,
// cleaned one. It does not look at the disk.
func (p Place) Abs(path string) string {
	switch {
	case path == "":
		return p.Cwd
	case path == "~" && p.Home != "":
		return p.Home
	case strings.HasPrefix(path, "~/") && p.Home != "":
		path = filepath.Join(p.Home, path[2:])
	case !filepath.IsAbs(path):
		path = filepath.Join(p.Cwd, path)
	}
	return filepath.Clean(path)
}

// Rel is the short form of an absolute path for titles: relative to the
// session's directory when beneath it, the path itself otherwise.
func (p Place) Rel(path string) string {
	rel, err := filepath.Rel(p.Cwd, path)
	if err != nil || p.Cwd == "" || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

package workspace

import (
	"io/fs"
	"path"
	"path/filepath"
)

// How much of a directory is looked through for secrets before a command sees it, and how many may be
// hidden in it.
const (
	maxShown       = 50_000
	maxShownHidden = 100
)

// Shown says what a command that may read a path outside the session's directories sees of it.
type Shown struct {
	// Path is where the path really is; "" for what must not be read, and for a directory that is not to be
	// opened, or holds too much to be looked through for secrets.
	Path string
	// Secrets lie beneath Path, and so do Objects, where repositories keep the content of files.
	Secrets, Objects []string
	// Opened says that an answer has opened the directory for the session. Otherwise it takes an
	// answer about the command.
	Opened bool
}

// Shown finds out what a command may see of a path outside the session's directories.
func (c *checker) Shown(abs string) Shown {
	access, err := c.Check(abs, false)
	switch {
	case err != nil || access.Inside && !access.Opened:
		return Shown{}
	case !access.isDir:
		return Shown{Path: access.Real, Opened: access.Opened}
	case !access.Opened && access.Dir == "":
		return Shown{}
	}
	shown := Shown{Path: access.Real, Opened: access.Opened}
	if !c.lookThrough(&shown) {
		return Shown{}
	}
	return shown
}

// lookThrough finds what is to be hidden in a directory, by names; it reports false where not all of that is known.
func (c *checker) lookThrough(shown *Shown) bool {
	r, err := openRoot(shown.Path)
	if err != nil {
		return false
	}
	defer r.handle.Close()
	if r.path != shown.Path {
		return false
	}
	left, files := maxShown, r.handle.FS()
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		file := filepath.Join(shown.Path, filepath.FromSlash(name))
		switch left--; {
		case err != nil || left < 0 || len(shown.Secrets)+len(shown.Objects) > maxShownHidden:
			return fs.ErrPermission
		case c.protection.Secret(file):
			shown.Secrets = append(shown.Secrets, file)
		case entry.IsDir() && path.Base(name) == "objects" && isFile(files, path.Join(path.Dir(name), "HEAD")):
			shown.Objects = append(shown.Objects, file)
		default:
			return nil
		}
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}) == nil
}

func isFile(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && info.Mode().IsRegular()
}

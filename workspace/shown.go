package workspace

import (
	"io/fs"
	"path/filepath"
)

// maxShown bounds the entries of a directory that is shown to a command.
const maxShown = 10_000

// Shown is where a path outside the session's directories really is, which a sandbox is to
// show to a command that the user allowed to read it. It is "" for what must not be read, and
// for a directory that is not to be opened, holds a name of a secret, or is too large to be
// looked through for one.
func (c *checker) Shown(path string) string {
	access, err := c.Check(path, false)
	switch {
	case err != nil || access.Inside:
		return ""
	case !access.isDir:
		return access.Real
	case access.Dir != access.Real || !c.clean(access.Real):
		return ""
	}
	return access.Real
}

// clean reports whether a directory is known to hold no name of a secret.
func (c *checker) clean(dir string) bool {
	r, err := openRoot(dir)
	if err != nil || r.path != dir {
		return false
	}
	defer r.handle.Close()
	left := maxShown
	return fs.WalkDir(r.handle.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if left--; err != nil || left < 0 || c.protection.Secret(filepath.Join(dir, filepath.FromSlash(name))) {
			return fs.ErrPermission
		}
		return nil
	}) == nil
}

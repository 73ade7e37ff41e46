package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/tools"
)

// Access is what the capability check says of a path that is not refused.
type Access struct {
	// Path is absolute, as it was asked for; Real is where it leads.
	Path, Real string
	// Inside says that the session may use it as it is. Otherwise it is a read
	// outside the roots, for the person to decide (C-29).
	Inside bool
	// Dir is the directory that an "always" would open for reading; empty when
	// none may be, such as for the home directory as a whole.
	Dir string
	// Waits says that Check refused the path because it leads to a pipe, a socket, a
	// device or a file of the kernel: reading it may never end.
	Waits bool

	isDir bool
}

// maxShown bounds the entries of a directory that is shown to a command.
const maxShown = 10_000

// Shown is where a path outside the session's directories really is, which a sandbox is to
// show to a command that the user allowed to read it. It is "" for what must not be read, and
// for a directory that is not to be opened, holds a name of a secret, or is too large to be
// looked through for one.
func (w *Workspace) Shown(path string) string {
	access, err := w.Check(path, false)
	switch {
	case err != nil || access.Inside:
		return ""
	case !access.isDir:
		return access.Real
	case access.Dir != access.Real || !w.clean(access.Real):
		return ""
	}
	return access.Real
}

// clean reports whether a directory is known to hold no name of a secret.
func (w *Workspace) clean(dir string) bool {
	r, err := openRoot(dir)
	if err != nil || r.path != dir {
		return false
	}
	defer r.handle.Close()
	left := maxShown
	return fs.WalkDir(r.handle.FS(), ".", func(name string, _ fs.DirEntry, err error) error {
		if left--; err != nil || left < 0 || w.o.Protection.Secret(filepath.Join(dir, filepath.FromSlash(name))) {
			return fs.ErrPermission
		}
		return nil
	}) == nil
}

// Check is the capability check of one path, as a model writes it (R113). The
// error is an *tools.Error: a secret (before anything is said of whether it
// exists), a device or a file of the kernel, a write outside the roots, or a path
// that cannot be followed.
func (w *Workspace) Check(path string, write bool) (Access, error) {
	abs := w.abs(path)
	if !write && w.o.Protection.Secret(abs) {
		return Access{}, tools.SecretRefused(abs)
	}
	t, err := w.follow(abs)
	if err != nil {
		return Access{}, err
	}
	return w.check(t, write)
}

// CheckName is Check for a change of the name itself, such as its removal: a
// link that has it is not followed, and Real is the link's own path. A link to a
// secret is a secret all the same.
func (w *Workspace) CheckName(path string) (Access, error) {
	t, err := w.followName(w.abs(path))
	if err != nil {
		return Access{}, err
	}
	if target, err := follow(t.asked); err == nil && target.exists() && w.secret(target) {
		return Access{}, tools.SecretRefused(t.asked)
	}
	return w.check(t, true)
}

func (w *Workspace) check(t *trail, write bool) (Access, error) {
	abs := t.asked
	if w.secret(t) && (!write || t.exists()) {
		return Access{}, tools.SecretRefused(abs)
	}
	access := Access{Path: abs, Real: t.real(), isDir: t.isDir()}
	if err := refuseKernel(t); err != nil {
		access.Waits = true
		return access, err
	}
	r, _ := pick(w.roots(""), t, write)
	switch {
	case w.foreign(t, r):
		return Access{}, w.outside(t, write)
	case r != nil:
		access.Inside = true
	case write || w.gone(abs) != nil:
		return Access{}, w.outside(t, write)
	default:
		access.Dir = w.grantable(t)
	}
	return access, nil
}

// follow resolves a path, after making sure that the session's own directory
// exists when it is meant.
func (w *Workspace) follow(abs string) (*trail, error) { return w.followed(abs, follow) }

// followName is follow for the name itself: a link that has it is not followed.
func (w *Workspace) followName(abs string) (*trail, error) { return w.followed(abs, followName) }

func (w *Workspace) followed(abs string, follow func(string) (*trail, error)) (*trail, error) {
	if w.private.Contains(abs) {
		if err := w.private.Create(); err != nil {
			return nil, failure("open", abs, err)
		}
	}
	t, err := follow(abs)
	if err != nil {
		return nil, failure("open", abs, err)
	}
	return t, nil
}

// Grant opens what the person allowed: for one call the path alone, and when
// forSession is set and access.Dir is not empty, that directory for reading as
// long as the session lives: to this agent, and to no other (R64). It never
// allows a write. What is opened is what was checked: if the path leads
// elsewhere by now, it stays closed.
func (w *Workspace) Grant(callID string, access Access, forSession bool) {
	if access.Inside {
		return
	}
	dir, only := access.Real, ""
	switch {
	case forSession && access.Dir != "":
		dir = access.Dir
	case !access.isDir:
		dir, only = filepath.Split(access.Real)
	}
	r, err := openRoot(dir)
	if err != nil || r.path != filepath.Clean(dir) {
		return // it changed since it was checked; the call will say so
	}
	r.only = only
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed, w.released:
		_ = r.handle.Close()
	case forSession && access.Dir != "":
		w.adHoc = append(w.adHoc, r)
	default:
		w.grants[callID] = append(w.grants[callID], r)
	}
}

// grantable is the directory around a path that may be opened for good: not a
// volume, not the home directory or one above it, nothing secret or protected.
func (w *Workspace) grantable(t *trail) string {
	dir := t.real()
	if !t.isDir() {
		dir = filepath.Dir(dir)
	}
	if len(t.missing) > 1 || len(components(dir)) == 0 || w.o.Protection.Secret(dir) || w.o.Protection.Protected(dir) {
		return ""
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return ""
	}
	if home, err := follow(w.abs(w.o.Directories.Home)); w.o.Directories.Home != "" && err == nil {
		if _, _, above := home.below(info); above {
			return ""
		}
	}
	return dir
}

func (w *Workspace) outside(t *trail, write bool) *tools.Error {
	verb, key := "read", "roots.read"
	if write {
		verb, key = "written", "roots.write"
	}
	where := t.asked
	if real := t.real(); real != t.asked {
		where += " (which leads to " + real + ")"
	}
	if r := w.gone(t.asked); r != nil {
		return goneError(t.asked, r)
	}
	var dirs []string
	for _, r := range w.fixed[:w.session] {
		dirs = append(dirs, r.path)
	}
	return &tools.Error{
		Kind: tools.Denied, Path: t.asked, DeniedBy: tools.DeniedByCapability,
		Message: where + " cannot be " + verb + ": it is outside the session's directories (" + strings.Join(dirs, ", ") + ")",
		Hint: "work inside them, or ask the person to add its directory to the session as an additional directory, or to " +
			key + " in the configuration",
	}
}

// workingDir resolves a working directory, which must lie in the session's
// roots: what the person granted to a call is for reading alone (R59).
func (w *Workspace) workingDir(path string) (string, error) {
	abs := w.abs(path)
	t, err := w.follow(abs)
	if err != nil {
		return "", err
	}
	r, _ := pick(w.roots(""), t, false)
	switch {
	case r == nil || w.foreign(t, r):
		return "", w.outside(t, false)
	case !t.exists():
		return "", &tools.Error{Kind: tools.BadInput, Path: abs, Message: "the working directory " + abs + " does not exist"}
	case !t.isDir():
		return "", &tools.Error{Kind: tools.BadInput, Path: abs, Message: "the working directory " + abs + " is not a directory"}
	}
	return t.real(), nil
}

package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"acp-agent/capability"
	"acp-agent/internal/pathname"
	"acp-agent/tools"
)

// Access is what the capability check says of a path that is not refused.
type Access struct {
	// Path is absolute, as it was asked for; Real is where it leads.
	Path, Real string
	// Inside says that the session may use it as it is. Otherwise it is a read
	// outside the roots, for the user to decide.
	Inside bool
	// Opened says that it is inside only because an answer has opened a directory outside the roots.
	Opened bool
	// Dir is the directory that an "always" would open for reading, or the one that is Opened; empty when
	// none may be, such as for the home directory as a whole.
	Dir string
	// Waits says that Check refused the path because it leads to a pipe, a socket, a
	// device or a file of the kernel: reading it may never end.
	Waits bool

	isDir bool
}

// checker decides which paths one agent of a session may use: the directories of the session's
// layout, and what the user opened for this agent.
type checker struct {
	*layout
	opened opened
	// looked remembers what is hidden in directories outside, see Shown.
	looked lookedThrough
}

// usable are the directories that a call may use at this moment.
func (c *checker) usable(callID string) []*root {
	return slices.Concat(c.fixed, c.privateRoots(), c.opened.roots(callID))
}

// Vars are the directories that the variables of requirement sets stand for, as
// a call may use them now (R111): the workspace is what the session may write,
// ad-hoc what the user opened in addition for reading.
func (c *checker) Vars(callID string) capability.Vars {
	vars := capability.Vars{capability.VarWorkspace: {c.private.Path()}, capability.VarAdHoc: nil}
	for _, r := range c.usable(callID) {
		name := capability.VarAdHoc
		if r.write || r.own {
			name = capability.VarWorkspace
		}
		vars[name] = append(vars[name], filepath.Join(r.path, r.only))
	}
	return vars
}

// Check is the capability check of one path, as a model writes it (R113). The
// error is an *tools.Error: a secret (before anything is said of whether it
// exists), a device or a file of the kernel, a write outside the roots, or a path
// that cannot be followed.
func (c *checker) Check(path string, write bool) (Access, error) {
	abs := c.abs(path)
	if !write && c.protection.Secret(abs) {
		return Access{}, tools.SecretRefused(abs)
	}
	t, err := c.follow(abs)
	if err != nil {
		return Access{}, err
	}
	return c.check(t, write)
}

// CheckName is Check for a change of the name itself, such as its removal: a
// link that has it is not followed, and Real is the link's own path. A link to a
// secret is a secret all the same.
func (c *checker) CheckName(path string) (Access, error) {
	t, err := c.followName(c.abs(path))
	if err != nil {
		return Access{}, err
	}
	return c.checkName(t)
}

func (c *checker) checkName(t *trail) (Access, error) {
	c.count(Resolution)
	if target, err := follow(t.asked); err == nil && target.exists() && c.secret(target) {
		return Access{}, tools.SecretRefused(t.asked)
	}
	return c.check(t, true)
}

func (c *checker) check(t *trail, write bool) (Access, error) {
	abs := t.asked
	if c.secret(t) && (!write || t.exists()) {
		return Access{}, tools.SecretRefused(abs)
	}
	access := Access{Path: abs, Real: t.real(), isDir: t.isDir()}
	if err := refuseKernel(t); err != nil {
		access.Waits = true
		return access, err
	}
	r, _ := pick(c.usable(""), t, write)
	switch {
	case c.inOtherSession(t, r):
		return Access{}, c.outside(t, write)
	case r != nil:
		access.Inside, access.Opened = true, r.opened
		if r.opened {
			access.Dir = r.path
		}
	case write || c.lostRoot(abs) != nil:
		return Access{}, c.outside(t, write)
	default:
		access.Dir = c.grantable(t)
	}
	return access, nil
}

// Grant opens what the user allowed: for one call the path alone, and when
// forSession is set and access.Dir is not empty, that directory for reading as
// long as the session lives: to this agent, and to no other (R64). It never
// allows a write. What is opened is what was checked: if the path leads
// elsewhere by now, it stays closed.
func (c *checker) Grant(callID string, access Access, forSession bool) {
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
	if forSession && access.Dir != "" {
		r.opened, r.at = true, time.Now()
		c.opened.addForGood(r)
	} else {
		c.opened.add(callID, r)
	}
}

// grantable is the directory around a path that may be opened for good: the top of the repository that it
// lies in, or else its own directory.
func (c *checker) grantable(t *trail) string {
	dir := t.real()
	if !t.isDir() {
		dir = filepath.Dir(dir)
	}
	if len(t.missing) > 1 {
		return ""
	}
	for top := dir; c.mayHold(top); top = filepath.Dir(top) {
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil && !c.protection.Protected(top) {
			return top
		}
	}
	if c.protection.Protected(dir) || !c.mayHold(dir) {
		return ""
	}
	return dir
}

// mayHold reports a directory that what is opened for good may lie in: not a volume, not the home directory or one
// above it, nothing secret, and nothing in a hidden directory of the home or its Library, where programs keep what they
// remember and log in with.
func (c *checker) mayHold(dir string) bool {
	if len(components(dir)) == 0 || c.protection.Secret(dir) {
		return false
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return false
	}
	home, err := follow(c.abs(c.place.Home))
	if c.place.Home == "" || err != nil {
		return true
	}
	if _, _, above := home.below(info); above {
		return false
	}
	below, inHome := pathname.Rel(home.real(), dir)
	first, _, _ := strings.Cut(filepath.ToSlash(below), "/")
	return !inHome || !strings.HasPrefix(first, ".") && !strings.EqualFold(first, "Library") && !strings.EqualFold(first, "AppData")
}

// workingDir resolves a working directory, which must lie in the session's
// roots: what the user granted to a call is for reading alone (R59).
func (c *checker) workingDir(path string) (string, error) {
	abs := c.abs(path)
	t, err := c.follow(abs)
	if err != nil {
		return "", err
	}
	r, _ := pick(c.usable(""), t, false)
	switch {
	case r == nil || r.opened || c.inOtherSession(t, r):
		return "", c.outside(t, false)
	case !t.exists():
		return "", &tools.Error{Kind: tools.BadInput, Path: abs, Message: "the working directory " + abs + " does not exist"}
	case !t.isDir():
		return "", &tools.Error{Kind: tools.BadInput, Path: abs, Message: "the working directory " + abs + " is not a directory"}
	}
	return t.real(), nil
}

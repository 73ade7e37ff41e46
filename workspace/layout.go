package workspace

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/workspace/private"
	"acp-agent/workspace/run"
)

// layout is where a session works: its directories, held open, and how a path is resolved
// in them. All agents of the session share it. It is safe for concurrent use.
type layout struct {
	place      kinds.Place
	protection run.Protection
	private    *private.Dir
	fixed      []*root // the session's roots, then the configuration's
	session    int     // how many of fixed are the session's
	count      func(Step)

	mu  sync.Mutex
	own []*root // the private directory, then scratch, once they were opened
}

// newLayout opens the roots of a session.
func newLayout(o *Options) (*layout, error) {
	l := &layout{protection: o.Protection, count: o.Count}
	err := l.openRoots(o.Directories)
	if err == nil {
		l.place = kinds.Place{Cwd: l.fixed[0].given, Home: o.Directories.Home}
		l.private, err = private.New(o.Directories.State, o.SessionID, o.Directories.Former)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *layout) openRoots(dirs Directories) error {
	for _, dir := range slices.Concat([]string{dirs.Cwd}, dirs.Additional) {
		r, err := dirs.open(dir)
		if err != nil {
			return err
		}
		r.write, r.editor = true, true
		l.fixed = append(l.fixed, r)
	}
	l.session = len(l.fixed)
	for i, dir := range slices.Concat(dirs.Write, dirs.Read) {
		r, err := openRoot(l.place.Abs(dir))
		if err != nil {
			continue // a cache that is not there has nothing to read
		}
		r.write = i < len(dirs.Write)
		l.fixed = append(l.fixed, r)
	}
	return nil
}

// open opens a directory of the session.
func (d Directories) open(dir string) (*root, error) {
	if d.Stage == nil {
		return openRoot(dir)
	}
	place, real := d.Stage(dir)
	r, err := openRoot(place)
	if err == nil {
		r.given, r.path = filepath.Clean(dir), real
	}
	return r, err
}

// close closes the roots. The private directory is removed before.
func (l *layout) close() {
	for _, r := range l.fixed {
		_ = r.handle.Close() // only ever read through
	}
}

// roots are the session's own directories, the working directory first.
func (l *layout) roots() []*root { return l.fixed[:l.session] }

// dirs are the session's own directories for a package that only looks below them.
func (l *layout) dirs() []rootfile.Dir {
	var dirs []rootfile.Dir
	for _, r := range l.roots() {
		dirs = append(dirs, rootfile.Dir{Path: r.path, Handle: r.handle})
	}
	return dirs
}

// privateRoots are the session's private directory and scratch as roots; none before they are
// created and after they are removed.
func (l *layout) privateRoots() []*root {
	l.mu.Lock()
	defer l.mu.Unlock()
	own, scratch := l.private.Handles()
	if own == nil {
		return nil
	}
	if l.own == nil {
		l.own = handleRoots(l.private, own, scratch)
	}
	return l.own
}

// abs makes a path as a model writes it absolute.
func (l *layout) abs(path string) string { return l.place.Abs(plainPath(path)) }

// Resolve follows the links of an absolute path as far as it exists. It never
// fails: a path that cannot be followed is returned as it is.
func (l *layout) Resolve(abs string) string {
	l.count(Resolution)
	t, err := follow(l.abs(abs))
	if err != nil {
		return l.abs(abs)
	}
	return t.real()
}

// follow resolves a path, after making sure that the session's own directory
// exists when it is meant.
func (l *layout) follow(abs string) (*trail, error) { return l.followed(abs, follow) }

// followName is follow for the name itself: a link that has it is not followed.
func (l *layout) followName(abs string) (*trail, error) { return l.followed(abs, followName) }

func (l *layout) followed(abs string, follow func(string) (*trail, error)) (*trail, error) {
	if l.private.Contains(abs) {
		if err := l.private.Create(); err != nil {
			return nil, failure("open", abs, err)
		}
	}
	l.count(Resolution)
	t, err := follow(abs)
	if err != nil {
		return nil, failure("open", abs, err)
	}
	return t, nil
}

// secret reports whether any name of a path is a secret's (P3).
func (l *layout) secret(t *trail) bool { return slices.ContainsFunc(t.names, l.protection.Secret) }

// SecretName reports whether a path is that of a secret, or of one of the agent's own
// files, by its name alone (P8).
func (l *layout) SecretName(path string) bool { return l.protection.Secret(path) }

// leadsToSecret reports whether an absolute path names a secret, as it is written or
// where it leads.
func (l *layout) leadsToSecret(abs string) bool {
	if l.protection.Secret(abs) {
		return true
	}
	l.count(Resolution)
	t, err := follow(abs)
	return err == nil && l.secret(t)
}

// inOtherSession reports whether a path lies in the common parent of the sessions'
// directories, but not in this session's own (R107).
func (l *layout) inOtherSession(t *trail, r *root) bool {
	if r != nil && r.own {
		return false
	}
	parent := l.private.ParentInfo()
	if parent == nil {
		return false
	}
	_, _, inside := t.below(parent)
	return inside
}

// lostRoot returns the root of the session that contains a path by its text, when that root was
// removed or replaced; else nil.
func (l *layout) lostRoot(abs string) *root {
	for _, r := range l.roots() {
		for _, dir := range []string{r.given, r.path} {
			if pathname.Contains(dir, abs) && !r.stands() {
				return r
			}
		}
	}
	return nil
}

func (l *layout) outside(t *trail, write bool) *tools.Error {
	verb, key := "read", "roots.read"
	if write {
		verb, key = "written", "roots.write"
	}
	where := t.asked
	if real := t.real(); real != t.asked {
		where += " (which leads to " + real + ")"
	}
	if r := l.lostRoot(t.asked); r != nil {
		return goneError(t.asked, r)
	}
	var dirs []string
	for _, r := range l.roots() {
		dirs = append(dirs, r.path)
	}
	return &tools.Error{
		Kind: tools.Denied, Path: t.asked, DeniedBy: tools.DeniedByCapability,
		Message: where + " cannot be " + verb + ": it is outside the session's directories (" + strings.Join(dirs, ", ") + ")",
		Hint: "work inside them, or ask the user to add its directory to the session as an additional directory, or to " +
			key + " in the configuration",
	}
}

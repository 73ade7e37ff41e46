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
	// unmoved says that the shell is still where it began, where ".." is the parent on the disk.
	unmoved bool
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
	return dirs{list: out, unmoved: d.unmoved && e.unmoved}
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

// only returns the one directory in which a command runs. ok is false where there may be several, or it is
// not known.
func (d dirs) only() (dir string, ok bool) {
	if d.unknown || len(d.list) != 1 {
		return "", false
	}
	return d.list[0], true
}

// known reports whether it is known in which directories a command may run.
func (d dirs) known() bool { return !d.unknown && len(d.list) > 0 }

// isAbs reports an absolute path of the platform, or of the POSIX shell that runs the command.
func isAbs(name string) bool {
	return strings.HasPrefix(name, "/") || filepath.IsAbs(name)
}

// start returns the working directory with links followed, since to all but the shell's own cd ".."
// is the parent of the directory that a link leads to.
func (ps *paths) start() dirs {
	cwd := ps.env.Cwd
	if resolved, _ := ps.env.Inside(cwd); resolved != "" && isAbs(cwd) {
		cwd = resolved
	}
	return dirs{list: []string{cwd}, unmoved: cwd == ps.env.Cwd}
}

// changesDir follows cd, pushd and popd (C6).
func (l *listing) changesDir(part *Part, s simple, at dirs) (finding, flow) {
	lost := flow{ok: dirs{unknown: true}, fail: at}
	args := s.args()
	for _, w := range args {
		if traverses(w.value) {
			return asksEachTime(reasonTraversal), l.moved(w, at, lost)
		}
	}
	if s.name() == "popd" || len(args) != 1 || strings.HasPrefix(args[0].value, "-") || strings.HasPrefix(args[0].value, "+") {
		return asks(Outside, s.name()+" goes to a directory that is not known"), lost
	}
	w := args[0]
	if !w.static {
		return asks(Dynamic, w.raw+" is only known when the command runs"), lost
	}
	if w.value == ".." && at.unmoved && s.name() == "cd" {
		// A shell that is still where it began goes up to the same directory as programs do.
		w.value = filepath.Dir(at.list[0])
	}
	return allowed().worse(l.judgePath(part, w, at, false)), l.moved(w, at, lost)
}

// moved returns the flow of a cd to a word, or lost where it is not known where that leads.
func (ps *paths) moved(w word, at dirs, lost flow) flow {
	if !w.static || w.value == "" {
		return lost
	}
	names, ok := at.join(w.value)
	if !ok {
		return lost
	}
	next := dirs{}
	for _, name := range names {
		if resolved, _ := ps.env.Inside(name); resolved != "" {
			name = resolved
		}
		next = next.union(dirs{list: []string{name}})
	}
	return flow{ok: next, fail: at}
}

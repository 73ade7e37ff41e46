package command

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/permissions"
)

// paths judges where a path leads: inside or outside the roots, to a secret, to a protected file.
type paths struct{ env Env }

// newPaths returns the paths of an environment, with defaults for functions that are not set.
func newPaths(env Env) *paths {
	if env.Secret == nil {
		env.Secret = permissions.Secret
	}
	if env.Inside == nil {
		env.Inside = insideText(env.Roots)
	}
	return &paths{env}
}

// judgePath judges a path that a listed command uses. reads says that the command prints the content
// of the file, not only its name. The zero finding means that nothing is wrong with the path.
func (ps *paths) judgePath(p *Part, w word, at dirs, reads bool) finding {
	if !w.static {
		return asks(Dynamic, w.raw+" is only known when the command runs")
	}
	if w.value == "/dev/null" {
		return finding{}
	}
	if reads && ps.secretArg(w, at) {
		return denies(SecretRead, w.value+" holds secrets, and reading secrets is not permitted")
	}
	if traverses(w.value) {
		p.Reads = append(p.Reads, parentPaths(w.value, at)...)
		return asksEachTime(reasonTraversal)
	}
	if w.value == ".." {
		// To the shell's cd it is the name without its last element, to programs the parent on the
		// disk. After a link these two differ.
		return asks(Outside, "the parent of a directory depends on the links that led there")
	}
	if w.value == "" {
		return asks(Unlisted, "an empty path names no file")
	}
	names, ok := at.join(w.value)
	if !ok {
		return asks(Outside, w.value+" is taken from a directory that is not known")
	}
	var f finding
	for _, name := range names {
		resolved, inside := ps.env.Inside(name)
		if ps.env.Secret(name) || resolved != "" && ps.env.Secret(resolved) {
			if reads {
				return denies(SecretRead, w.value+" holds secrets, and reading secrets is not permitted")
			}
			f = f.worse(asks(SecretRead, w.value+" holds secrets"))
		}
		if reads {
			f = f.worse(ps.keptByGit(w.value, name, resolved))
		}
		if reads && ps.env.Waits != nil && ps.env.Waits(name) {
			f = f.worse(asks(Endless, w.value+" is a pipe, a socket or a device, and reading it may never end"))
		}
		if !inside {
			f = f.worse(ps.asksOutside(w.value, name, resolved))
			p.noteRead(name)
		}
		p.noteRead(cmp.Or(resolved, name))
	}
	return f
}

// noteRead records a path that the command reads.
func (p *Part) noteRead(name string) {
	if !slices.Contains(p.Reads, name) {
		p.Reads = append(p.Reads, name)
	}
}

// outside returns the reason against a path outside the roots. If a link is involved, the reason
// names its target, because that is what the user would allow (O1).
func outside(word, name, resolved string) string {
	if resolved == "" || resolved == filepath.Clean(name) {
		return word + " lies outside the workspace"
	}
	return word + " leads to " + resolved + ", which lies outside the workspace"
}

// asksOutside asks about a path outside the roots. A sandbox makes it harmless if a command in it
// finds nothing of the user's there.
func (ps *paths) asksOutside(word, name, resolved string) finding {
	f := asks(Outside, outside(word, name, resolved))
	if ps.shown(name, resolved) {
		f.notSandboxable = ""
	}
	return f
}

// shown reports a path outside the roots at which a command in the sandbox finds nothing of the
// user's, neither by its name nor at its target.
func (ps *paths) shown(name, resolved string) bool {
	return ps.env.Shown != nil && ps.env.Shown(filepath.Clean(name)) && (resolved == "" || ps.env.Shown(resolved))
}

// parentPaths returns the paths that a name with "../" in front stands for. It returns none for a
// name with "../" further on, since that depends on links.
func parentPaths(name string, at dirs) []string {
	down := name
	for strings.HasPrefix(down, "../") {
		down = down[len("../"):]
	}
	if down == name || down == ".." || traverses(down) {
		return nil
	}
	names, _ := at.join(name)
	return names
}

// tree judges a directory of which a command reads all files, or the ones whose base names reads
// accepts.
func (ps *paths) tree(name string, at dirs, reads func(name string) bool) finding {
	names, ok := at.join(name)
	if !ok {
		return asks(Outside, "the directory is not known")
	}
	for _, dir := range names {
		resolved, _ := ps.env.Inside(dir)
		if ps.env.HoldsSecret == nil || ps.env.HoldsSecret(resolved, reads) {
			// A read-only sandbox hides such files.
			return asksUnlessReadOnly(SecretRead, "reading all of "+name+" may read files that hold secrets")
		}
	}
	return finding{}
}

// traverses reports a path with ".." in it, one of the findings of R118.
func traverses(v string) bool {
	return strings.Contains(v, "../") || strings.Contains(v, `..\`) || strings.HasSuffix(v, "/..")
}

// insideText is Env.Inside for a host without a disk: it follows no links.
func insideText(roots []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		clean := filepath.Clean(name)
		for _, root := range roots {
			if pathname.Contains(root, clean) {
				return clean, true
			}
		}
		return clean, false
	}
}

package command

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/permissions"
)

// paths says what the paths in a text are: inside or outside, secret, vital, protected.
type paths struct{ env Env }

// newPaths returns the paths of an environment, whose functions need not be set.
func newPaths(env Env) *paths {
	if env.Secret == nil {
		env.Secret = permissions.Secret
	}
	if env.Inside == nil {
		env.Inside = insideText(env.Roots)
	}
	return &paths{env}
}

// operand judges a path that a listed command uses. reads says that the content of the
// file comes out, not only its name. The zero finding means that all is well.
func (ps *paths) operand(p *Part, w word, at dirs, reads bool) finding {
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
		p.Reads = append(p.Reads, above(w.value, at)...)
		return validates(ReasonTraversal)
	}
	if w.value == ".." {
		// The shell's cd takes it by name and programs by the disk, which differ behind a link.
		return asks(Outside, "the parent of a directory depends on the links that led there")
	}
	if w.value == "" {
		return asks(Unlisted, "an empty path is no path")
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
			f = f.worse(ps.gitText(w.value, name, resolved))
		}
		if reads && ps.env.Waits != nil && ps.env.Waits(name) {
			f = f.worse(asks(Endless, w.value+" is a pipe, a socket or a device, and reading it may never end"))
		}
		if !inside {
			f = f.worse(ps.leaves(w.value, name, resolved))
			p.reads(name)
		}
		p.reads(cmp.Or(resolved, name))
	}
	return f
}

// reads notes a path that the command reads.
func (p *Part) reads(name string) {
	if !slices.Contains(p.Reads, name) {
		p.Reads = append(p.Reads, name)
	}
}

// outside says that a word names a path outside, and where that leads when a link stands in
// its way: what is allowed is what lies there (O1).
func outside(word, name, resolved string) string {
	if resolved == "" || resolved == filepath.Clean(name) {
		return word + " lies outside the workspace"
	}
	return word + " leads to " + resolved + ", which lies outside the workspace"
}

// leaves is the finding about a path outside. Where a confined command finds nothing of the
// user's there, the sandbox answers for it.
func (ps *paths) leaves(word, name, resolved string) finding {
	f := asks(Outside, outside(word, name, resolved))
	if ps.shown(name, resolved) {
		f.notSandboxable = ""
	}
	return f
}

// shown reports a path outside at which a confined command finds nothing of the user's, by
// its name and by where that leads.
func (ps *paths) shown(name, resolved string) bool {
	return ps.env.Shown != nil && ps.env.Shown(filepath.Clean(name)) && (resolved == "" || ps.env.Shown(resolved))
}

// above are the paths that a name means which first goes up and then down. One that goes up
// further on depends on links.
func above(name string, at dirs) []string {
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

// tree judges a directory whose whole content is read, or with reads, the files whose
// base names reads accepts.
func (ps *paths) tree(name string, at dirs, reads func(name string) bool) finding {
	names, ok := at.join(name)
	if !ok {
		return asks(Outside, "the directory is not known")
	}
	for _, dir := range names {
		resolved, _ := ps.env.Inside(dir)
		if ps.env.HoldsSecret == nil || ps.env.HoldsSecret(resolved, reads) {
			f := asks(SecretRead, "reading all of "+name+" may read files that hold secrets")
			f.notReading = "" // which a sandbox for reading hides
			return f
		}
	}
	return finding{}
}

// traverses is the class of R118.
func traverses(v string) bool {
	return strings.Contains(v, "../") || strings.Contains(v, `..\`) || strings.HasSuffix(v, "/..")
}

// insideText is the confinement by text alone.
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

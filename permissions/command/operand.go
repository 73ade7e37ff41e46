package command

import (
	"cmp"
	"path"
	"path/filepath"
	"slices"
	"strings"

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

// gitText asks about what git keeps of secrets as files: addresses with a user and
// password, and objects, which hold what any tracked file once was.
func (ps *paths) gitText(shown, name, resolved string) finding {
	switch {
	case ps.env.HoldsAddress != nil && (ps.env.HoldsAddress(name) || ps.env.HoldsAddress(resolved)):
		return asks(SecretRead, shown+" holds a user and password in the address of a remote")
	case gitObject(name) || gitObject(resolved):
		return asks(SecretRead, shown+" is an object of git, which may be a file that held secrets")
	case otherContent(name) || otherContent(resolved):
		return asks(SecretRead, shown+" is what version control keeps of a file, which may have held secrets")
	}
	return finding{}
}

// gitObject reports a path in a repository's store of objects.
func gitObject(name string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(name)), "/")
	git := slices.Index(parts, ".git")
	return git >= 0 && slices.Contains(parts[git:], "objects")
}

// otherContent reports a path in what Subversion or Mercurial keep of the content of files.
func otherContent(name string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(name)), "/")
	for i, part := range parts[:len(parts)-1] {
		if next := parts[i+1]; part == ".svn" && hasWord("pristine text-base", next) || part == ".hg" && next == "store" {
			return true
		}
	}
	return false
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

// candidates are the paths that an argument may name: itself, or what follows the
// marks with which programs join an option or a host to a path.
func candidates(v string) []string {
	out := []string{v}
	add := func(s string) {
		s = strings.TrimPrefix(s, "file://")
		if s != "" && s != v {
			out = append(out, s)
		}
	}
	for _, mark := range []string{"=", "@", ":", "<"} {
		if i := strings.LastIndex(v, mark); i >= 0 {
			add(v[i+1:])
		}
	}
	if strings.HasPrefix(v, "file://") {
		add(v)
	}
	if len(v) > 2 && v[0] == '-' && v[1] != '-' {
		add(v[2:])
	}
	return out
}

// secretArg reports whether an argument names a secret, by its text or by where it
// leads; a glob that could only be meant for one counts.
func (ps *paths) secretArg(w word, at dirs) bool {
	for _, c := range candidates(w.value) {
		if strings.ContainsAny(c, " \n") && !strings.Contains(c, "/") || strings.HasPrefix(c, "http") {
			continue
		}
		if ps.secretWord(c, at) && (c != "credentials") {
			return true
		}
		if !w.static && secretGlob(c) {
			return true
		}
		if !w.static || strings.HasPrefix(c, "-") || strings.Contains(c, "://") || len(c) > 1024 {
			continue
		}
		names, _ := at.join(c)
		for _, name := range names {
			if resolved, _ := ps.env.Inside(name); resolved != "" && resolved != name && ps.env.Secret(resolved) && !ps.env.Secret(name) {
				return true
			}
		}
	}
	return false
}

// secretWord reports whether a word names a secret by its text. Where it leads to a file
// that is known, it counts only if that is one: some names are, unless git tracks the file.
func (ps *paths) secretWord(word string, at dirs) bool {
	if !ps.env.Secret(word) {
		return false
	}
	names, ok := at.join(word)
	return !ok || len(names) == 0 || slices.ContainsFunc(names, ps.env.Secret)
}

// secretGlob reports a glob with some literal text that matches a well-known secret.
func secretGlob(pattern string) bool {
	base := path.Base(pattern)
	if !strings.ContainsAny(base, "*?[") || strings.Trim(base, "*?[]") == "" {
		return false
	}
	for _, name := range []string{
		".env", ".env.local", ".env.production", ".npmrc", ".netrc", ".pypirc", ".pgpass", ".git-credentials",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "x.pem", "x.key", "x.p12", "x.pfx", "credentials", "credentials.json",
		".envrc", "x.env", ".htpasswd", ".vault_pass", "x.jks", "x.keystore", "x.tfvars", "x.tfstate",
	} {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		if ok, err := path.Match(base, name); err == nil && ok && permissions.Secret(name) && literal(base) > 1 {
			return true
		}
	}
	return false
}

func literal(glob string) int {
	return len(strings.Trim(strings.NewReplacer("*", "", "?", "").Replace(glob), "[]"))
}

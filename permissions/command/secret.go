package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/pathname"
	"acp-agent/permissions"
)

// secretArg reports an argument that names a secret, by its text or by its target. A glob counts
// that hardly matches anything else.
func (ps *paths) secretArg(w word, at dirs) bool {
	for _, c := range pathsIn(w.value) {
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

// pathsIn returns the paths that an argument may name: itself, and what follows a mark with which
// programs join an option or a host to a path.
func pathsIn(v string) []string {
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

// secretWord reports a word whose text is the name of a secret. Where its path is known, that path
// decides: some names are those of secrets unless git tracks the file.
func (ps *paths) secretWord(word string, at dirs) bool {
	if !ps.env.Secret(word) {
		return false
	}
	names, ok := at.join(word)
	return !ok || len(names) == 0 || slices.ContainsFunc(names, ps.env.Secret)
}

// secretGlob reports a glob that matches the name of a well-known secret, by more than its wildcards.
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
		if ok, err := path.Match(base, name); err == nil && ok && permissions.Secret(name) && literalBytes(base) > 1 {
			return true
		}
	}
	return false
}

// literalBytes counts the bytes of a glob that are not wildcards.
func literalBytes(glob string) int {
	return len(strings.Trim(strings.NewReplacer("*", "", "?", "").Replace(glob), "[]"))
}

// keptByGit asks about files in which version control keeps secrets: addresses with a user and
// password, and objects, which hold the former content of any tracked file.
func (ps *paths) keptByGit(word, name, resolved string) finding {
	switch {
	case ps.env.HoldsAddress != nil && (ps.env.HoldsAddress(name) || ps.env.HoldsAddress(resolved)):
		return asks(SecretRead, word+" holds a user and password in the address of a remote")
	case gitObject(name) || gitObject(resolved):
		return asks(SecretRead, word+" is an object of git, which may be a file that held secrets")
	case otherContent(name) || otherContent(resolved):
		return asks(SecretRead, word+" is what version control keeps of a file, which may have held secrets")
	}
	return finding{}
}

// gitObject reports a path in the object database of a repository: below a directory named like one, as those without a
// working tree are, or by the names of the objects.
func gitObject(name string) bool {
	parts := strings.Split(strings.ToLower(filepath.ToSlash(name)), "/")
	for i, part := range parts {
		switch {
		case part != "objects":
		case slices.ContainsFunc(parts[:i], func(dir string) bool { return strings.HasSuffix(dir, ".git") }):
			return true
		case i+2 < len(parts) && (parts[i+1] == "pack" || len(parts[i+1]) == 2 && len(parts[i+2]) >= 38):
			return true
		}
	}
	return false
}

// otherContent reports a path where another system than git keeps the content of files.
func otherContent(name string) bool {
	parts := strings.Split(filepath.ToSlash(name), "/")
	for i, part := range parts[:len(parts)-1] {
		if pathname.KeepsContent(part, parts[i+1]) {
			return true
		}
	}
	return false
}

// readsSecret finds DN8: a command that would print or copy the content of a secret file.
func (d *denial) readsSecret(s simple) finding {
	args := s.args()
	switch s.name() {
	case "ls", "stat", "test", "[", "rm", "touch", "chmod", "chown", "chgrp", "mkdir", "rmdir", "du", "file",
		"echo", "printf", "basename", "dirname", "realpath", "readlink", "which", "type", "command", "cd", "pushd",
		"true", "false", "tree", "tee", "ssh-keygen", "ssh-add", "export", "unlink", "shred", "ssh", "alias", "truncate":
		return finding{}
	case "find":
		if len(commandsAfter(args, findRunning, true)) == 0 {
			return finding{}
		}
	case "git":
		if files := messageFiles(s); len(files) > 0 {
			args = files
			break
		}
		if !hasWord("show diff cat-file blame grep log archive annotate stash format-patch", subcommand(s)) {
			return finding{}
		}
		if subcommand(s) == "log" && !hasFlag(s, "p", "--patch") {
			return finding{}
		}
	case "cp", "ln", "install", "rsync":
		ops := operands(s)
		args = ops[:max(0, len(ops)-1)]
	case "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "jq", "perl":
		args = withoutProgram(s)
	}
	if fetches(s) {
		args = withoutCredentials(s, args)
	}
	for _, w := range args {
		if d.secretArg(w, s.at) {
			return denies(SecretRead, w.String()+" holds secrets, and reading secrets is not permitted")
		}
	}
	return finding{}
}

// withoutCredentials drops the options with which a program of the network names its keys and certificates,
// and their values: it uses these, and sends none of them.
func withoutCredentials(s simple, args []word) []word {
	var out []word
	for i := 0; i < len(args); i++ {
		switch v := args[i].value; {
		case !hasWord("-i --cert --key --cacert -E --capath", v):
			out = append(out, args[i])
		case s.name() != "curl" || v != "-i": // to curl, -i has no value
			i++
		}
	}
	return out
}

// messageFiles returns the files from which git takes a message into its history, where everyone can
// read it.
func messageFiles(s simple) []word {
	if s.name() != "git" || !hasWord("commit tag notes merge", subcommand(s)) {
		return nil
	}
	var files []word
	args := s.args()
	for i, w := range args {
		var rest string
		if name, value, attached := strings.Cut(w.value, "="); strings.HasPrefix(name, "--") {
			if len(name) < 4 || !strings.HasPrefix("--file", name) && !strings.HasPrefix("--template", name) {
				continue
			}
			if rest = value; attached && rest == "" {
				continue
			}
		} else if at := strings.IndexAny(w.value, "mFtCcSu"); at < 1 || w.value[0] != '-' || w.value[at] != 'F' && w.value[at] != 't' {
			continue
		} else {
			rest = w.value[at+1:]
		}
		switch {
		case rest != "":
			files = append(files, w.piece(rest))
		case i+1 < len(args):
			files = append(files, args[i+1])
		}
	}
	return files
}

// withoutProgram drops the pattern or script of a command: the first operand, unless an option holds
// it.
func withoutProgram(s simple) []word {
	if hasFlag(s, "e", "--regexp", "--expression") && s.name() != "perl" || hasFlag(s, "f", "--file", "--from-file") {
		return s.args()
	}
	first := true
	var out []word
	for _, w := range s.args() {
		if first && !strings.HasPrefix(w.value, "-") {
			first = false
			continue
		}
		out = append(out, w)
	}
	return out
}

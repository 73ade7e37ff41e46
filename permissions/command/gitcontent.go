package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/capability"
)

// gitContents are the options with which log, show, diff and stash show print the content of files.
var gitContents = []string{"-p", "-u", "--patch", "--patch-with-stat", "-W", "--function-context"}

// gitPrints reports a git command that prints what files hold, and held once, given by its words
// from the subcommand on. plain are those without the options that only say so.
func gitPrints(args []word) (plain []word, prints bool) {
	sub := args[0].value
	summary := false
	for _, w := range args {
		lines, unified := strings.CutPrefix(w.value, "-U")
		switch {
		case slices.Contains(gitContents, w.value), unified && small(lines), strings.HasPrefix(w.value, "--unified=") && small(w.value[len("--unified="):]):
			prints = true
			continue
		case slices.Contains(gitSummaries, optionName(w.value)):
			summary = true
		}
		plain = append(plain, w)
	}
	switch sub {
	case "diff", "show":
		return plain, prints || !summary
	case "log":
		return plain, prints
	case "stash":
		return plain, len(args) > 1 && args[1].value == "show" && prints
	}
	return plain, false
}

// objectPath reports REVISION:PATH.
func objectPath(operand string) bool {
	revision, name, ok := strings.Cut(operand, ":")
	return ok && revision != "" && name != "" && !strings.HasPrefix(name, "-")
}

// optionName is an option without the value that is attached to it.
func optionName(v string) string {
	name, _, _ := strings.Cut(v, "=")
	return name
}

// gitContent judges a git command that prints the content of files: git is asked for their
// names first, without the content, and none may be that of a secret. What is a name and what a
// revision, git knows alone.
func (l *listing) gitContent(part *Part, args []word, at dirs) finding {
	sub := args[0].value
	if sub == "diff" {
		// Without revisions nothing has to be looked up.
		if f := l.gitDiffAsWritten(part, args, at); f.action != capability.Ask {
			return f
		}
	}
	grammar := sub
	if sub == "stash" {
		grammar, args = "diff", args[1:]
	}
	p, bad := gitForms[grammar].parse(args[1:])
	switch {
	case bad != "":
		return asks(Unlisted, "the option "+bad+" of git "+sub+" is not on the list of what only reads")
	case p.has("--follow"):
		return asks(Unlisted, "git "+sub+" --follow prints content of files that had another name")
	case len(at.list) != 1 || at.unknown:
		return asks(Outside, "git runs in a directory that is not known")
	}
	for _, option := range []string{"--format", "--pretty"} {
		if !plainFormat(grammar, p.seen[option]) {
			return asks(Interpreter, "the format may print content or run a program that checks signatures")
		}
	}
	f := l.gitOperands(part, gitForms[grammar], p, at)
	if f.set && f.action != capability.Allow {
		return f
	}
	if sub == "show" && len(p.operands) > 0 && !slices.ContainsFunc(p.operands, func(w word) bool { return !objectPath(w.value) }) {
		return allowed() // each is a file by its name, which was judged as one
	}
	if slices.ContainsFunc(p.operands, func(w word) bool { return strings.Contains(w.value, ":") }) {
		return asks(Unlisted, "git "+sub+" is given a pattern or an object among others, which may be a file that holds secrets")
	}
	words := []string{sub}
	if sub == "stash" {
		words = append(words, "show")
	}
	names, ok := l.env.GitNames(at.list[0], append(words, values(args[1:])...))
	if !ok {
		return asks(Unlisted, "git "+sub+" prints content, and of which files could not be found out")
	}
	for _, name := range names {
		if l.env.Secret(filepath.Join(at.list[0], name)) || l.env.Secret(path.Base(name)) {
			return asks(SecretRead, "git "+sub+" would print "+name+", which holds secrets")
		}
	}
	return allowed()
}

// gitDiffAsWritten judges a diff by its words alone.
func (l *listing) gitDiffAsWritten(part *Part, args []word, at dirs) finding {
	e := gitForms["diff"]
	p, bad := e.parse(args[1:])
	if bad != "" {
		return asks(Unlisted, "the option "+bad+" of git diff is not on the list of what only reads")
	}
	return allowed().worse(l.gitDiff(args[1:], p, at)).worse(l.gitOperands(part, e, p, at))
}

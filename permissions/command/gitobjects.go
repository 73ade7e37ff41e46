package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/capability"
)

// readsObjects reports a command of git that needs the object database. The others work on refs, settings and
// the names in the index.
func (p Part) readsObjects() bool {
	if p.redirect || len(p.Argv) == 0 || path.Base(p.Argv[0]) != "git" {
		return false
	}
	args := p.Argv[1:]
	for len(args) > 0 && hasWord("--no-pager -P --no-optional-locks --literal-pathspecs", args[0]) {
		args = args[1:]
	}
	if len(args) == 0 {
		return true
	}
	plain := func(a string) bool {
		return strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--short") || a == "HEAD"
	}
	switch rest := args[1:]; args[0] {
	case "ls-files", "check-ignore", "remote", "version", "--version":
		return false
	case "rev-parse":
		return slices.ContainsFunc(rest, func(a string) bool { return !plain(a) })
	case "branch":
		return !slices.Equal(rest, []string{"--show-current"})
	}
	return true
}

// readsUnknown reports a part that may read a file which is only known when it runs.
func (p Part) readsUnknown() bool {
	switch {
	case p.redirect:
		known := strings.HasSuffix(p.Text, "/dev/null") || strings.HasSuffix(p.Text, "&1") || strings.HasSuffix(p.Text, "&2")
		return p.Action != capability.Allow && !known && !p.Static
	case len(p.Argv) == 0, !p.open && hasWord("echo printf test [ basename dirname tr seq sleep true false : exit", path.Base(p.Argv[0])):
		return false
	}
	return !p.Static || p.open || p.anyFile
}

// printsBinary reports a search or a comparison of a tree that prints lines of binary files, too.
func printsBinary(s simple) bool {
	has := func(letter byte, names string) bool {
		return slices.ContainsFunc(s.argv, func(arg string) bool {
			name := optionName(arg)
			return shortOption(arg, letter) || hasWord(names, name)
		})
	}
	switch s.name() {
	case "grep", "egrep", "fgrep", "diff":
		return has('r', "--recursive") && has('a', "--text --binary-files")
	case "rg":
		return has('a', "--text --binary") || has('u', "--unrestricted")
	}
	return false
}

// hidingObjects applies [confined] to a text, and hides the object database of git from one that may read
// any file. Where git itself needs the database, such a text asks.
func hidingObjects(v Verdict, file *syntax.File, env Env) Verdict {
	anyFile := slices.ContainsFunc(v.Parts, Part.readsUnknown)
	at := slices.IndexFunc(v.Parts, Part.readsObjects)
	if anyFile && at >= 0 {
		if v.Action == capability.Allow {
			pt := parts{text: v.Text, list: v.Parts}
			pt.list[at].raise(asks(SecretRead, "git needs its object database, and another command of the text may read any file, that database included"))
			return pt.verdict()
		}
		return v
	}
	asked := v.Action == capability.Ask
	v = confined(v, file, env)
	v.HidesObjects = anyFile && v.Action == capability.Allow
	v.HidesAddresses = (anyFile || asked) && v.Action == capability.Allow
	return v
}

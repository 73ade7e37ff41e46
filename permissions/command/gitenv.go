package command

import (
	"slices"
	"strconv"
	"strings"
)

// GitEnv returns the variables, as NAME=value, with which a command must run that is allowed because it
// only reads, so that a repository cannot make git run programs (C9). The settings travel in git's own
// GIT_CONFIG_* variables, because the judged text must not change. A command that the user approved runs
// without them, since hooks are part of what a commit means. Drivers that the configuration of a
// repository names cannot be switched off this way, see GitConfigPrograms.
func GitEnv() []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_PAGER=cat",
		"PAGER=cat",
		"GIT_EDITOR=true",
		"GIT_NO_LAZY_FETCH=1",
		// Not of git, but for the same reason: where cd goes must not depend on the environment,
		"CDPATH=",
		// nor the options of rg,
		"RIPGREP_CONFIG_PATH=",
		// and "go version" must not fetch and run the toolchain that a go.mod names (T2).
		"GOTOOLCHAIN=local",
	}
	settings := [][2]string{
		{"core.fsmonitor", "false"},
		{"core.hooksPath", "/dev/null"},
		{"core.pager", "cat"},
		{"safe.bareRepository", "explicit"},
		{"protocol.ext.allow", "never"},
		{"log.showSignature", "false"},
		// The format of a log that names none. It may run the program that checks signatures.
		{"format.pretty", "medium"},
		{"submodule.recurse", "false"},
		// git diff would write the index, to note that a file was only touched.
		{"diff.autoRefreshIndex", "false"},
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	for i, kv := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return env
}

// gitKeyRuns reports a key of git's configuration whose value git may run as a program, or that brings in
// more configuration or another working tree. The list follows git's documentation.
func gitKeyRuns(key string) bool {
	k := strings.ToLower(key)
	section, _, _ := strings.Cut(k, ".")
	last := k[strings.LastIndex(k, ".")+1:]
	switch section {
	case "alias", "include", "includeif", "hook", "imap", "pager", "credential", "difftool", "mergetool", "browser", "man", "guitool", "sendemail", "web", "instaweb":
		return strings.Contains(k, ".")
	case "protocol": // which may open addresses that are programs
		return last == "allow"
	case "color":
		return false
	case "url":
		return last == "insteadof" || last == "pushinsteadof"
	}
	return slices.Contains([]string{
		"fsmonitor", "hookspath", "pager", "editor", "askpass", "gitproxy", "attributesfile",
		"textconv", "external", "driver", "clean", "smudge", "process", "program", "helper", "cmd",
		"uploadpack", "receivepack", "vcs", "sequenceeditor", "templatedir",
		"update", "worktree", "worktreeconfig", "difffilter",
	}, last) || strings.HasSuffix(last, "command") || strings.HasSuffix(last, "hook") || k == "sequence.editor" || k == "diff.tool" || k == "merge.tool" || last == "guitool" ||
		k == "rebase.instructionformat" || // a line of a rebase's list may be a command
		k == "options.strategy" || // of commits that are picked, in sequencer/opts
		strings.HasPrefix(k, "lfs.customtransfer.") || k == "lfs.standalonetransferagent" || k == "svn.authorsprog" ||
		k == "branch.sort" || k == "tag.sort" // "signature" runs the program that checks them
}

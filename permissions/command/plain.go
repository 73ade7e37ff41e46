package command

import (
	"strings"

	"acp-agent/capability"
)

// plainCommands lists the commands of R119. Those of plainSubcommands are plain only with one of the
// subcommands given there.
const plainCommands = "ls pwd echo cat grep find head tail wc sort uniq diff"

var plainSubcommands = map[string]string{"git": "status log", "npm": "list", "yarn": "list", "pip": "list"}

// plainText reports a text that can be read in one way only: without here-documents, expansions and
// escapes, in ASCII.
func plainText(text string) bool {
	for _, c := range text {
		if c > '~' || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return !strings.ContainsAny(text, "$`\\") && !strings.Contains(text, "<<") && !strings.Contains(text, "<(") && !strings.Contains(text, ">(")
}

// plain reports a part of a plain text that runs without a question even where no sandbox confines it
// (R119). A part that asks is never one.
func (p Part) plain() bool {
	switch {
	case p.Action != capability.Allow:
		return false
	case p.redirect:
		return len(p.Wrote) == 0
	case !p.Static || len(p.Argv) == 0 || len(p.outer) > 0:
		return false
	}
	name, rest := p.Argv[0], p.Argv[1:]
	if len(rest) > 0 && plainSubcommands[name] != "" {
		return hasWord(plainSubcommands[name], rest[0]) || asksVersion(rest)
	}
	return hasWord(plainCommands, name) || asksVersion(rest)
}

// asksVersion reports whether the arguments ask a program for its version.
func asksVersion(args []string) bool {
	return len(args) == 1 && hasWord("--version -version -V -v version", args[0])
}

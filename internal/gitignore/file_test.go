package gitignore_test

import (
	"testing"

	"acp-agent/internal/gitignore"
)

func TestFile_Match(t *testing.T) {
	t.Parallel()
	const (
		none    = gitignore.None
		ignore  = gitignore.Ignore
		include = gitignore.Include
	)
	for _, tt := range []struct {
		name, file, path string
		dir              bool
		want             gitignore.Verdict
	}{
		{"no pattern", "", "a", false, none},
		{"comment and blank", "# a\n\n", "a", false, none},
		{"quoted hash", "\\#a\n", "#a", false, ignore},
		{"quoted bang", "\\!a\n", "!a", false, ignore},
		{"name at any depth", "a\n", "x/y/a", false, ignore},
		{"anchored by leading slash", "/a\n", "x/a", false, none},
		{"anchored by inner slash", "x/a\n", "x/a", false, ignore},
		{"inner slash is not any depth", "x/a\n", "y/x/a", false, none},
		{"directory only, directory", "a/\n", "x/a", true, ignore},
		{"directory only, file", "a/\n", "x/a", false, none},
		{"tail", "*.log\n", "x/b.log", false, ignore},
		{"star stops at slash", "x/*.log\n", "x/y/b.log", false, none},
		{"last match wins", "*.log\n!b.log\n", "b.log", false, include},
		{"last match wins, other order", "!b.log\n*.log\n", "b.log", false, ignore},
		{"leading tree", "**/a\n", "x/y/a", false, ignore},
		{"leading tree, depth zero", "**/a\n", "a", false, ignore},
		{"trailing tree", "x/**\n", "x/y/a", false, ignore},
		{"trailing tree, not itself", "x/**\n", "x", true, none},
		{"inner tree, zero", "x/**/a\n", "x/a", false, ignore},
		{"inner tree, two", "x/**/a\n", "x/y/z/a", false, ignore},
		{"inner tree keeps boundaries", "x/**/a\n", "x/ba", false, none},
		{"undelimited double star", "x/?b**\n", "x/abc/d", false, none},
		{"double star after a literal head", "x/b**\n", "x/bc/d", false, ignore},
		{"set", "[a-c]\n", "b", false, ignore},
		{"negated set with bang", "[!a-c]\n", "b", false, none},
		{"negated set with caret", "[^a-c]\n", "x", false, ignore},
		{"bracket in set", "[]]\n", "]", false, ignore},
		{"class", "[[:digit:]]\n", "7", false, ignore},
		{"unclosed set", "[a\n", "[a", false, none},
		{"question mark", "a?\n", "ab", false, ignore},
		{"trailing blanks", "a  \n", "a", false, ignore},
		{"quoted trailing blank", "a\\ \n", "a ", false, ignore},
		{"CRLF", "a\r\n", "a", false, ignore},
		{"BOM", "\ufeffa\n", "a", false, ignore},
		{"no last newline", "a", "a", false, ignore},
		{"lone slash", "/\n", "a", true, none},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := gitignore.Parse([]byte(tt.file)).Match(tt.path, tt.dir); got != tt.want {
				t.Errorf("Match(%q, %v) with %q = %v, want %v", tt.path, tt.dir, tt.file, got, tt.want)
			}
		})
	}
}

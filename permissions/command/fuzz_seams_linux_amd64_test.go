package command_test

import "strings"

// hidden are places where bash runs the command in them, or would without what stands around them; % is
// the command.
var hidden = []string{
	"$(%)", "$(%)", "`%`", "<(%)", ">(%)", "'$(%)'", "\"$(%)\"", "$'$(%)'", "\\$(%)", "$(% ", "\\`%\\`", "${ %; }", "$[`%`]", "%", "'`%`'", "$\"$(%)\"",
}

// around are what may stand around a place. A parser and bash may read the quotes within differently.
var around = []string{
	"${a:-%}", "\"${a:-%}\"", "\"${a:-'%'}\"", "${a:+'%'}", "${a#%}", "\"${a%%'%'}\"", "${a/%/x}", "${a/x/%}", "\"${a/x/'%'}\"", "${a:%}", "${a[%]}", "${#a[%]}", "${a^^%}", "${!a%}", "${a@%}",
	"$((%))", "$(( '%' ))", "$(( \"%\" ))", "$[%]", "\"%\"", "'%'", "$'%'", "$\"%\"", "\\'%\\'", "@(%)", "!(%|b)", "+(a|%)", "a{%,b}", "{1..%}", "(%)", "(b|%)", "[%]", "[^%]", "~%", "a=%", "a=(%)", "a[%]=1", "x%y", "%\\\n", "\n%\n", " % ", "#%",
}

// seamed are commands with room for a word.
var seamed = []string{
	"[[ a == % ]]", "[[ a =~ % ]]", "[[ % ]]", "[[ -f % ]]", "[[ a < % ]]", "[[ a -eq % ]]", "echo %", ": %", "a=%; ls", "a=% ls", "case a in %) ls;; esac", "case % in a) ls;; esac", "for i in %; do ls; done", "cat <<<%",
	"cat <<E\n%\nE", "cat <<E\n${a:-\nE\n%\n}\nE", "cat <<E\n${a:-%\nE\n}\nE", "cat <<-E\n\t%\n\tE", "cat <<'E'\n%\nE", "cat <<\\E\n%\nE\n", "cat <<E; ls\n$(\nE\n%\n)\nE", "cat <<%\nE\n%\n", "((%))", "(( a = % ))", "[ a = % ]", "printf '%s' %", "echo % | cat", "ls; %", "ls > /dev/null %",
	"echo a #%", "echo a\\\n%", "cat a %", "test -n %", "while [[ a == % ]]; do ls; done", "if [[ % =~ a ]]; then ls; fi", "f() { %; }; ls", "local a=%", "export A=%", "declare a=%", "head -n % a", "let %", "read a <<<%", "select i in %; do ls; done", "time %", "! %", "coproc %",
}

// seams hides a command where words are within words.
func (g texts) seams() string {
	fill := func(frame, with string) string { return strings.Replace(frame, "%", with, 1) }
	text := fill(g.pick(hidden), g.pick(effects))
	for range g.IntN(4) {
		text = fill(g.pick(around), text)
	}
	frame := g.pick(seamed)
	if at := strings.LastIndexByte(frame, '%'); at >= 0 { // the last one: a format may stand before it
		text = frame[:at] + text + frame[at+1:]
	}
	if g.often(4) {
		return g.changed(text)
	}
	return text
}

package command_test

import "strings"

// hidden are places where bash runs the command in them, or would without what stands around them; % is
// the command.
var hidden = []string{"$(%)", "`%`", "<(%)", "'$(%)'", "\"$(%)\"", "%"}

// around are what may stand around a place. A parser and bash may read the quotes within differently.
var around = []string{
	"${a:-%}", "\"${a:-%}\"", "\"${a:+'%'}\"", "${a#%}", "${a/x/%}", "${a:%}", "${a[%]}", "$((%))", "$(( '%' ))", "$[%]", "\"%\"", "$'%'", "@(%)", "!(%|b)", "a{%,b}", "(b|%)",
	"[%]", "a[%]=1", "a=(%)", "\n%\n",
}

// seamed are commands with room for a word.
var seamed = []string{
	"[[ a == % ]]", "[[ a =~ % ]]", "[[ % ]]", "echo %", "a=%; ls", "case a in %) ls;; esac", "case % in a) ls;; esac", "for i in %; do ls; done", "cat <<<%", "cat <<E\n%\nE",
	"cat <<E\n${a:-\nE\n%\n}\nE", "cat <<-E\n\t%\n\tE", "cat <<'E'\n%\nE", "(( a = % ))", "[ a = % ]", "ls #%",
}

// seams hides a command where words are within words.
func (g texts) seams() string {
	fill := func(frame, with string) string { return strings.Replace(frame, "%", with, 1) }
	text := fill(g.pick(hidden), g.pick(effects))
	for range g.IntN(3) {
		text = fill(g.pick(around), text)
	}
	text = fill(g.pick(seamed), text)
	if g.often(6) {
		return g.changed(text)
	}
	return text
}

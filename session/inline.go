package session

import (
	"fmt"
	"strings"

	"acp-agent/kinds"
)

// lineRunes bounds a text that is shown in one line.
const lineRunes = 300

// firstOf returns the first of some names, at most so many, and how many more there are.
func firstOf(names []string, most int) []string {
	if over := len(names) - most; over > 0 {
		return append(names[:most:most], fmt.Sprintf("and %d more", over))
	}
	return names
}

// code is a text as inline code, in one line of bounded length.
func code(text string) string { return kinds.Code(text, lineRunes) }

// whole is inline code with all of a text, for what a yes lets run (O1): code would shorten it, and
// spaces could hide its end. Line breaks are escaped, and backticks in the text cannot end it.
func whole(text string) string {
	text = kinds.Visible(strings.NewReplacer("\n", `\u{a}`, "\t", `\u{9}`).Replace(text))
	ticks := "`"
	for strings.Contains(text, ticks) {
		ticks += "`"
	}
	if len(ticks) > 1 {
		return ticks + " " + text + " " + ticks
	}
	return ticks + text + ticks
}

// someOf lists names as inline code, at most the first 30.
func someOf(names []string) string {
	const most = 30
	var list []string
	for _, name := range names {
		list = append(list, code(name))
	}
	return strings.Join(firstOf(list, most), ", ")
}

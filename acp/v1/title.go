package v1

import (
	"cmp"
	"slices"
	"strings"

	"acp-agent/internal/textcut"
	"acp-agent/kinds"
)

const (
	// commandRunes bounds the title of a command on its card; a permission request and
	// the label of a terminal show all of it.
	commandRunes = 200
	// lineBreak stands for a line break in a command that is shown in one line.
	lineBreak = " ↵ "
)

// title returns a call's title in the form that this client shows as intended (R151): one
// line, or the whole command if the title labels a terminal. whole keeps a long command
// whole. tail, which says how a command ended, is never cut.
func (c client) title(kind kinds.Kind, text, tail string, whole bool) string {
	if kind == kinds.Execute && c.agentTerminals {
		return text + tail
	}
	line := oneLine(text)
	if kind == kinds.Execute && !whole {
		line = shorten(line, commandRunes)
	}
	line += tail
	switch {
	case c.markdownTitles && kind != kinds.Execute && kind != kinds.Edit:
		return escapeLine(line, true)
	case c.cutTitles && strings.ContainsAny(line, "`:—\"*_[]<>~#\\|="):
		return quote(line, whole)
	}
	return line
}

// form puts the title and the locations of a change into the form for this client.
func (c client) form(view *callView, to change) change {
	kind := cmp.Or(to.kind, view.kind)
	to.locations = c.shownLocations(kind, to.locations)
	if to.title != "" {
		view.label = to.title
	}
	if to.title != "" || to.tail != "" {
		to.title = c.title(kind, view.titlePrefix+view.label, to.tail, false)
	}
	return to
}

// shownLocations are the locations of a call that this client is sent. A client that shows a
// location instead of the title gets locations only for calls about a file.
func (c client) shownLocations(kind kinds.Kind, list []kinds.Location) []kinds.Location {
	if !c.locationTitles || slices.Contains([]kinds.Kind{kinds.Read, kinds.Edit, kinds.Delete, kinds.Move}, kind) {
		return list
	}
	return nil
}

// oneLine folds a text into one line. Line breaks stay visible, because they separate commands.
func oneLine(text string) string {
	if !strings.ContainsAny(text, "\n\t") {
		return text
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.ReplaceAll(line, "\t", " ")); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, lineBreak)
}

// shorten cuts a text to a number of characters.
func shorten(text string, limit int) string {
	if textcut.Characters(text, limit) == text {
		return text
	}
	return textcut.Characters(text, limit-1) + "…"
}

// quote turns a title into a code span, for a client that cuts titles but not code spans. On
// a card such a client starts a span at a single backtick and drops every other one; in a
// permission request it shows Markdown.
func quote(line string, asked bool) string {
	if !asked {
		return "`" + strings.ReplaceAll(line, "`", "'") + "`"
	}
	ticks := "`"
	for strings.Contains(line, ticks) {
		ticks += "`"
	}
	if strings.HasPrefix(line, "`") || strings.HasSuffix(line, "`") {
		line = " " + line + " "
	}
	return ticks + line + ticks
}

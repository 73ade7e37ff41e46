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

// title makes the form of a call's title that this client shows as it is meant (R151):
// one line, or the whole command where the title is the label of a terminal. whole keeps
// a long command whole. tail says how a command ended, and is never cut.
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

// form gives a change of a call the title and the locations in the form for this client.
func (c client) form(view *callView, to change) change {
	kind := cmp.Or(to.kind, view.kind)
	to.locations = c.shownLocations(kind, to.locations)
	if to.title != "" {
		view.label = to.title
	}
	if to.title != "" || to.tail != "" {
		to.title = c.title(kind, view.crumb+view.label, to.tail, false)
	}
	return to
}

// shownLocations are the locations of a call that this client is sent. Where it shows a
// location instead of the title, only calls that are about a file have any.
func (c client) shownLocations(kind kinds.Kind, list []kinds.Location) []kinds.Location {
	if !c.locationTitles || slices.Contains([]kinds.Kind{kinds.Read, kinds.Edit, kinds.Delete, kinds.Move}, kind) {
		return list
	}
	return nil
}

// oneLine folds a text. A line break stays visible, because it parts commands.
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

// quote makes a code span of a title for a client that cuts titles but not code spans.
// On a card such a client knows one backtick alone as the beginning of a span and drops
// every other one; in a permission request it shows Markdown.
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

package editor

import "strings"

// title insists that a card's line says what the call is.
func (j *judge) title(c *Card, look View) {
	title := strings.TrimSuffix(firstLine(strings.TrimSpace(c.Title)), "…")
	switch e := j.editor; e {
	case Zed:
		if shown := strings.TrimSuffix(look.Title, "…"); c.Kind != "execute" && c.Kind != "edit" && shown != unescaped(title) {
			j.lose("title", "%q is shown as %q", title, look.Title)
		}
	case CodeCompanion:
		_, target, _ := strings.Cut(look.Title, ": ")
		switch {
		case c.Kind == "execute" && !strings.HasPrefix(strings.TrimLeft(flat(c.Title), "`\""), head(flat(cutTitle(target)), 20)):
			j.lose("title", "the command %q is shown as %q", title, look.Title)
		case c.Kind != "execute" && target == cutTitle(c.Title) && colonCuts(c.Title, target):
			j.lose("title", "%q is cut to %q", title, look.Title)
		}
	}
	if strings.Contains(strings.TrimSpace(c.Title), "\n") && (c.Kind != "execute" || j.editor == CodeCompanion) {
		j.lose("title", "%q has several lines", title)
	}
}

// colonCuts reports whether a title lost what stands after its first colon.
func colonCuts(title, shown string) bool {
	before, after, cut := strings.Cut(title, ":")
	return cut && strings.TrimSpace(before) == shown && strings.TrimSpace(after) != ""
}

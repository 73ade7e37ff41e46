package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// call writes a tool call: closed but for one that changed a file or failed.
func (p *page) call(call *transcript.ToolPart, level int) {
	open, state := markup(""), markup("ok")
	if changes(call) {
		open = " open"
	}
	switch call.State {
	case transcript.Done:
	case transcript.Failed, transcript.Rejected:
		open, state = " open", "bad"
	default:
		state = "other"
	}
	kind := call.Card.Kind
	if !kind.Valid() {
		kind = kinds.Other
	}
	p.put(markup("<details class=\"call\""), open, markup(">\n<summary><span class=\"kind\">"), strings.ReplaceAll(string(kind), "_", " "),
		markup("</span> <span class=\"title\" dir=\"auto\">"), shownTitle(call), markup("</span> <span class=\"state "), state, markup("\">"), stateText(call.State))
	p.put(markup("</span></summary>\n"))
	if text := p.c.Decisions[call.CallID].sentence(); text != "" {
		p.put(markup("<p class=\"decision\">"), text, markup("</p>\n"))
	}
	p.content(call)
	p.resultText("Printed before it ended", call.Printed, p.terminal)
	p.result(call)
	if call.Child != nil {
		p.child(call.Child.Record(), level)
	}
	p.put(markup("</details>\n"))
}

// content writes the call's changes and images, and its arguments where the title does not have
// them.
func (p *page) content(call *transcript.ToolPart) {
	drawn := false
	for _, content := range call.Card.Content {
		switch c := content.(type) {
		case kinds.Diff:
			p.diff(c)
			drawn = true
		case kinds.Image:
			p.image(c.MediaType, c.Data)
		}
	}
	if !drawn && saysMore(call) {
		p.fold("Arguments", "arguments", func() { p.terminal(indented(strings.TrimSpace(call.Input))) })
	}
}

// indented is JSON with line breaks, and anything else as it is.
func indented(input string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(input), "", "  ") != nil {
		return input
	}
	return b.String()
}

func (p *page) result(call *transcript.ToolPart) {
	text, isProse := result(call)
	write := p.terminal
	if isProse {
		write = p.prose
	}
	p.resultText("Result", text, write)
	if read := output(call); isProse && strings.TrimSpace(read) != text {
		p.fold("Result as the model read it", "result", func() { p.terminal(read) })
	}
	shown := map[string]bool{}
	for _, content := range call.Card.Content {
		if image, ok := content.(kinds.Image); ok {
			shown[image.Data] = true
		}
	}
	for _, image := range call.Images {
		if !shown[image.Data] {
			p.image(image.MediaType, image.Data)
		}
	}
}

// resultText writes a result; a long one is folded.
func (p *page) resultText(name, text string, write func(string)) {
	text = strings.TrimRight(text, "\n")
	switch n := strings.Count(text, "\n") + 1; {
	case strings.TrimSpace(text) == "":
	case n <= longText:
		write(text)
	default:
		p.fold(name+", "+kinds.Count(n, "line"), "result", func() { write(text) })
	}
}

func (p *page) child(r transcript.ChildRecord, level int) {
	p.fold("Subagent "+transcript.PathText(r.Path)+" · "+childText(r), "subagent", func() {
		for _, m := range r.Messages {
			p.message(m, level+1)
		}
		if len(r.Messages) == 0 {
			text := "Its conversation is a session of its own: " + r.ID
			if !r.Inspectable {
				text = "Nothing of its conversation was kept."
			}
			p.put(markup("<p class=\"note\">"), text, markup("</p>\n"))
		}
	})
}

// diff writes a change side by side.
func (p *page) diff(d kinds.Diff) {
	before, what := "", "New file"
	if d.Old != nil {
		before, what = *d.Old, "Change of"
	}
	rows := sideBySide(before, d.New)
	added, removed := counts(rows)
	p.put(markup("<table class=\"diff\">\n<caption>"), what, markup(" <code>"), shortPath(p.c, d.Path),
		markup("</code> <span class=\"added\">"), fmt.Sprintf("+%d", added), markup("</span> <span class=\"removed\">"), fmt.Sprintf("−%d", removed),
		markup("</span></caption>\n<colgroup><col class=\"num\"><col><col class=\"num\"><col></colgroup>\n<thead class=\"unseen\"><tr><th scope=\"col\">Line before</th><th scope=\"col\">Before</th><th scope=\"col\">Line after</th><th scope=\"col\">After</th></tr></thead>\n<tbody>\n"))
	shown, rest := excerpt(rows)
	for _, r := range shown {
		p.row(r)
	}
	if rest > 0 {
		p.put(markup("<tr class=\"gap\"><td colspan=\"4\">"), fmt.Sprintf("%s more are not shown", kinds.Count(rest, "line")), markup("</td></tr>\n"))
	}
	if len(shown) == 0 {
		p.put(markup("<tr class=\"gap\"><td colspan=\"4\">No line differs</td></tr>\n"))
	}
	p.put(markup("</tbody>\n</table>\n"))
}

func (p *page) row(r row) {
	if r.skipped > 0 {
		p.put(markup("<tr class=\"gap\"><td colspan=\"4\">"), kinds.Count(r.skipped, "unchanged line"), markup("</td></tr>\n"))
		return
	}
	old, new := []piece{{r.old, false}}, []piece{{r.new, false}}
	if r.changed() && r.oldLine > 0 && r.newLine > 0 {
		old, new = words(r.old, r.new)
	}
	p.put(markup("<tr>"))
	p.side(r.oldLine, old, r.changed(), "del")
	p.side(r.newLine, new, r.changed(), "ins")
	p.put(markup("</tr>\n"))
}

// side writes a line of one side: its number, and its text with the words that differ in an
// element.
func (p *page) side(line int, pieces []piece, changed bool, element markup) {
	if line == 0 {
		p.put(markup("<td class=\"no\"></td><td class=\"none\"></td>"))
		return
	}
	class := markup("same")
	if changed {
		class = element
	}
	p.put(markup("<td class=\"no\">"), line, markup("</td><td class=\""), class, markup("\">"))
	for _, piece := range pieces {
		if piece.changed {
			p.put(markup("<"), element, markup(">"), piece.text, markup("</"), element, markup(">"))
		} else {
			p.put(piece.text)
		}
	}
	p.put(markup("</td>"))
}

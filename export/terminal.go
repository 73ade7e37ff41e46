package export

import (
	"fmt"
	"io"
	"strings"

	"acp-agent/internal/ansi"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

const (
	defaultWidth = 80
	// Of a result and of a change, a terminal shows the first lines.
	maxResultLines = 12
	maxChangeLines = 40
)

// The styles of the terminal.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// textWriter writes the form Text. A write that failed fails all later ones.
type textWriter struct {
	to     io.Writer
	c      Conversation
	o      Options
	indent string
	turn   int
	err    error
}

func writeText(w io.Writer, c Conversation, o Options) error {
	if o.Width <= 0 {
		o.Width = defaultWidth
	}
	t := &textWriter{to: w, c: c, o: o}
	list, err := c.turns()
	if err != nil {
		return err
	}
	t.line(bold, titleOf(c))
	for _, fact := range facts(c, list) {
		t.line(dim, fact.name+": "+fact.value)
	}
	for _, rule := range c.Rules {
		t.line(dim, "Rule: "+rule)
	}
	for _, note := range c.Notes {
		t.line(yellow, note)
	}
	for _, entry := range c.Plan {
		t.line("", planSign(entry)+" "+kinds.Line(entry.Content, 400))
	}
	for m, err := range c.Messages {
		if err != nil {
			return err
		}
		if startsTurn(m) || t.turn == 0 {
			t.turn++
			t.rule(fmt.Sprintf("%d · %s", t.turn, stamp(m.Created)))
		}
		if t.message(m); t.err != nil {
			return t.err
		}
	}
	return t.err
}

// planSign is how a terminal shows how far an entry of the plan is.
func planSign(entry transcript.PlanEntry) string {
	switch entry.Status {
	case "completed":
		return "[x]"
	case "in_progress":
		return "[>]"
	}
	return "[ ]"
}

// line writes lines in a style, each below the indent. No control character of the text reaches
// the terminal.
func (t *textWriter) line(style, text string) {
	for one := range strings.Lines(strings.TrimRight(kinds.Visible(text), "\n") + "\n") {
		one = strings.TrimSuffix(one, "\n")
		if t.o.Color && style != "" && one != "" {
			one = "\x1b[" + style + "m" + one + "\x1b[0m"
		}
		t.write(strings.TrimRight(t.indent+one, " ") + "\n")
	}
}

func (t *textWriter) write(text string) {
	if t.err == nil {
		_, t.err = io.WriteString(t.to, text)
	}
}

func (t *textWriter) rule(text string) {
	t.write("\n")
	t.line(dim, text+" "+strings.Repeat("─", max(0, min(t.o.Width, 100)-len([]rune(text))-1)))
}

func (t *textWriter) message(m *transcript.Message) {
	if m.Clears {
		t.line(dim, "(the conversation was cleared here)")
		return
	}
	if text := compactionText(m); text != "" {
		t.line(dim, "("+text+")")
		return
	}
	if t.o.Steps && m.Role == transcript.Assistant && m.Digest != "" {
		t.line(dim, stepText(m))
	}
	for _, part := range m.Parts {
		t.part(m, part)
	}
}

// digestShown is how many hexadecimal digits of a digest are shown: enough to tell prompts apart.
const digestShown = 12

// stepText says what the request to the model was that an answer came from.
func stepText(m *transcript.Message) string {
	parts := []string{m.Created.UTC().Format("15:04:05"), m.Model}
	if m.Usage != nil {
		parts = append(parts, usageText(*m.Usage))
	}
	return strings.Join(append(parts, "system prompt "+m.Digest[:min(digestShown, len(m.Digest))]), " · ")
}

func (t *textWriter) part(m *transcript.Message, part transcript.Part) {
	switch p := part.(type) {
	case *transcript.TextPart:
		switch text := strings.TrimSpace(p.Text); {
		case text == "":
		case p.Synthetic && m.Role == transcript.User:
			t.line(dim, "(added by the agent: "+kinds.Line(text, 200)+")")
		case m.Role == transcript.User:
			t.line(bold+";"+cyan, "› "+strings.ReplaceAll(text, "\n", "\n  "))
			t.write("\n")
		default:
			t.line("", text)
			t.write("\n")
		}
	case *transcript.ReasoningPart:
		if text := strings.TrimSpace(p.Text); text != "" && t.o.Thoughts {
			t.line(dim, "thought: "+text)
			t.write("\n")
		}
	case *transcript.ImagePart:
		t.line(dim, "("+imageText(p.MediaType, p.Data)+")")
	case *transcript.LinkPart:
		t.line(dim, "(mentioned: "+kinds.Line(p.Name+" "+p.URI, 400)+")")
	case *transcript.ResourcePart:
		t.line(dim, "(attached: "+kinds.Line(p.URI, 400)+", "+kinds.Count(len(lines(p.Text)), "line")+")")
	case *transcript.ToolPart:
		t.call(p)
	}
}

func (t *textWriter) call(call *transcript.ToolPart) {
	style := green
	if call.State != transcript.Done {
		style = red
	}
	t.line(style, "● "+strings.ReplaceAll(shownTitle(call), "\n", "\n  ")+" · "+stateText(call.State))
	outer := t.indent
	t.indent += "  "
	if text := t.c.Decisions[call.CallID].sentence(); text != "" {
		t.line(dim, text)
	}
	if !t.showChanges(call) {
		t.firstLines(lines(strings.TrimSpace(ansi.Text(call.Printed))), maxResultLines, dimmed)
		text, _ := result(call)
		t.firstLines(lines(strings.TrimSpace(ansi.Text(text))), maxResultLines, dimmed)
	}
	if call.Child != nil {
		t.child(call.Child.Record())
	}
	t.indent = outer
	t.write("\n")
}

// showChanges shows the changes of a call; it reports whether there are any.
func (t *textWriter) showChanges(call *transcript.ToolPart) bool {
	found := false
	for _, content := range call.Card.Content {
		d, ok := content.(kinds.Diff)
		if !ok {
			continue
		}
		found = true
		t.firstLines(lines(unified(d)), maxChangeLines, diffStyle)
	}
	return found
}

func diffStyle(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@@"):
		return cyan
	}
	return ""
}

// dimmed is the style of each line of a result.
func dimmed(string) string { return dim }

// firstLines shows at most limit lines, each in its style, and says how many more there are.
func (t *textWriter) firstLines(all []string, limit int, style func(line string) string) {
	for i, line := range all {
		if i == limit {
			t.line(dim, fmt.Sprintf("… %s more", kinds.Count(len(all)-i, "line")))
			return
		}
		t.line(style(line), line)
	}
}

func (t *textWriter) child(r transcript.ChildRecord) {
	t.line(yellow, "subagent "+transcript.PathText(r.Path)+" · "+childText(r))
	outer := t.indent
	t.indent += "│ "
	for _, m := range r.Messages {
		t.message(m)
	}
	t.indent = outer
}

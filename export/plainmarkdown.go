package export

import (
	"fmt"
	"html"
	"io"
	"strings"

	"acp-agent/internal/ansi"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// markdownWriter writes the form Markdown. A write that failed fails all later ones.
type markdownWriter struct {
	to   io.Writer
	c    Conversation
	turn int
	err  error
}

func writeMarkdown(w io.Writer, c Conversation) error {
	m := &markdownWriter{to: w, c: c}
	list, err := c.turns()
	if err != nil {
		return err
	}
	m.head(list)
	for message, err := range c.Messages {
		if err != nil {
			return err
		}
		if startsTurn(message) || m.turn == 0 {
			m.turn++
			m.line("\n---\n\n## %d. %s\n", m.turn, literalMarkdown(list[m.turn-1].title))
		}
		if m.message(message, ""); m.err != nil {
			return m.err
		}
	}
	return m.err
}

func (m *markdownWriter) line(format string, args ...any) {
	if m.err == nil {
		_, m.err = io.WriteString(m.to, kinds.Visible(fmt.Sprintf(format, args...))+"\n")
	}
}

func (m *markdownWriter) head(list []turn) {
	m.line("# %s\n", literalMarkdown(titleOf(m.c)))
	for _, fact := range facts(m.c, list) {
		m.line("- %s: %s", fact.name, literalMarkdown(fact.value))
	}
	for _, note := range m.c.Notes {
		m.line("- Note: %s", literalMarkdown(kinds.Line(note, 400)))
	}
	if len(m.c.Plan) == 0 {
		return
	}
	m.line("\n## Plan\n")
	for _, entry := range m.c.Plan {
		box := " "
		if entry.Status == "completed" {
			box = "x"
		}
		m.line("- [%s] %s (%s)", box, literalMarkdown(kinds.Line(entry.Content, 400)), literalMarkdown(kinds.Line(entry.Status, 40)))
	}
}

// message writes a message; agent names the subagent that it belongs to, "" is the main agent.
func (m *markdownWriter) message(message *transcript.Message, agent string) {
	switch {
	case message.Clears:
		m.line("*The conversation was cleared here: the model saw nothing of what stands above.*\n")
		return
	case message.Compaction != nil:
		m.line("*%s*\n", compactionText(message))
		if text := message.Text(); text != "" {
			m.folded("Summary", kinds.Fence("text", text))
		}
		return
	case message.Role == transcript.User:
		m.line("### %s\n", byline("You", agent, message))
	case message.Synthetic:
		m.line("### %s\n", byline("Notice", agent, message))
	default:
		m.line("### %s\n", byline("Agent", agent, message))
	}
	for _, part := range message.Parts {
		m.part(message, part, agent)
	}
}

func byline(role, agent string, message *transcript.Message) string {
	text := role
	if agent != "" {
		text = agent + ", " + strings.ToLower(role)
	}
	for _, more := range []string{message.Model, stamp(message.Created)} {
		if more != "" {
			text += " · " + literalMarkdown(kinds.Line(more, 80))
		}
	}
	return text
}

func (m *markdownWriter) part(message *transcript.Message, part transcript.Part, agent string) {
	switch p := part.(type) {
	case *transcript.TextPart:
		switch {
		case strings.TrimSpace(p.Text) == "":
		case p.Synthetic:
			m.folded("Added by the agent", kinds.Fence("text", p.Text))
		case message.Role == transcript.User:
			m.line("%s\n", quoted(p.Text))
		default:
			m.line("%s\n", inertMarkdown(strings.TrimRight(p.Text, "\n")))
		}
	case *transcript.ReasoningPart:
		if strings.TrimSpace(p.Text) != "" {
			m.folded("Thought", kinds.Fence("text", p.Text))
		}
	case *transcript.ImagePart:
		m.line("*(%s)*\n", imageText(p.MediaType, p.Data))
	case *transcript.LinkPart:
		m.line("- Mentioned: %s %s\n", literalMarkdown(kinds.Line(p.Name, 200)), kinds.Code(p.URI, 400))
	case *transcript.ResourcePart:
		m.folded("Attached: "+kinds.Line(p.URI, 200), kinds.Fence("text", p.Text))
	case *transcript.ToolPart:
		m.call(p, agent)
	}
}

func (m *markdownWriter) call(call *transcript.ToolPart, agent string) {
	m.line("**%s** · %s\n", literalMarkdown(kinds.Line(shownTitle(call), 400)), literalMarkdown(stateText(call.State)))
	if text := m.c.Decisions[call.CallID].sentence(); text != "" {
		m.line("%s\n", literalMarkdown(text))
	}
	drawn := false
	for _, content := range call.Card.Content {
		switch c := content.(type) {
		case kinds.Diff:
			m.folded("Change of "+kinds.Line(m.path(c.Path), 300), kinds.Fence("diff", unified(c)))
			drawn = true
		case kinds.Image:
			m.line("*(%s)*\n", imageText(c.MediaType, c.Data))
		}
	}
	if !drawn && saysMore(call) {
		m.folded("Arguments", kinds.Fence("json", call.Input))
	}
	if printed := strings.TrimRight(ansi.Text(call.Printed), "\n"); printed != "" {
		m.folded("Printed before it ended", kinds.Fence("text", printed))
	}
	text, isProse := result(call)
	if isProse {
		m.line("%s\n", inertMarkdown(text))
	} else if text = strings.TrimRight(ansi.Text(text), "\n"); text != "" {
		m.folded("Result", kinds.Fence("text", text))
	}
	for _, image := range call.Images {
		m.line("*(%s)*\n", imageText(image.MediaType, image.Data))
	}
	if call.Child == nil {
		return
	}
	record := call.Child.Record()
	name := transcript.PathText(record.Path)
	if agent != "" || name == "" {
		name = strings.TrimPrefix(agent+" > "+record.Agent, " > ")
	}
	name = kinds.Line(name, 200)
	m.line("<details>\n<summary>%s</summary>\n", summaryText("Subagent "+name+" · "+childText(record)))
	for _, message := range record.Messages {
		m.message(message, literalMarkdown(name))
	}
	m.line("</details>\n")
}

// folded writes something that a reader opens.
func (m *markdownWriter) folded(summary, body string) {
	m.line("<details>\n<summary>%s</summary>\n\n%s\n\n</details>\n", summaryText(summary), body)
}

// summaryText is a text within HTML, where Markdown is not read.
func summaryText(text string) string { return html.EscapeString(kinds.Line(text, 400)) }

// path is a path as it is shown: relative to the session's directory.
func (m *markdownWriter) path(name string) string { return shortPath(m.c, name) }

func quoted(text string) string {
	return "> " + strings.ReplaceAll(inertMarkdown(text), "\n", "\n> ")
}

// literalMarkdown is a text of one line as Markdown that shows it as it is.
func literalMarkdown(text string) string {
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, ">", `\>`, "#", `\#`, "|", `\|`, "~", `\~`, "!", `\!`,
	).Replace(text)
}

// inertMarkdown is a model's Markdown in which no image is loaded and HTML is text. Blocks
// of code stay as they are.
func inertMarkdown(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		if mark := fenceOf(line); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
		} else if fence == "" {
			line = inertLine(line)
		}
		b.WriteString(line)
	}
	if fence != "" {
		b.WriteString("\n" + fence) // what follows is not code
	}
	return b.String()
}

// fenceOf is the run of signs that opens or closes a block of code; "" for another line.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " >")
	for _, sign := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, sign)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// inertLine escapes what a line outside of code could load.
func inertLine(line string) string {
	var b strings.Builder
	inCode := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '`':
			inCode = !inCode
		case !inCode && (c == '<' || c == '!' && strings.HasPrefix(line[i:], "![")):
			b.WriteByte('\\')
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

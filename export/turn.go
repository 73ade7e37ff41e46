package export

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// titleRunes bounds the title of a turn.
const titleRunes = 90

// turn is what a list of turns shows: a prompt and all that followed.
type turn struct {
	title   string
	started time.Time
	calls   int
	usage   transcript.Usage // of the steps and of subagents
	cost    float64
	changed int // calls that changed a file
}

// turns reads the conversation for the list of its turns. The first has no prompt when the agent
// spoke first.
func (c *Conversation) turns() ([]turn, error) {
	var list []turn
	for m, err := range c.Messages {
		if err != nil {
			return nil, err
		}
		if startsTurn(m) || len(list) == 0 {
			list = append(list, turn{title: promptTitle(m), started: m.Created})
		}
		c.count(&list[len(list)-1], m)
	}
	return list, nil
}

// startsTurn reports whether a message is a prompt.
func startsTurn(m *transcript.Message) bool { return m.Role == transcript.User && m.Compaction == nil }

// compactionText says what a compaction did; "" for another message.
func compactionText(m *transcript.Message) string {
	c := m.Compaction
	if c == nil {
		return ""
	}
	text := "The conversation was compacted here"
	if c.Before > 0 {
		text += fmt.Sprintf(" (about %s tokens became %s)", thousands(c.Before), thousands(c.After))
	}
	if c.Summary {
		return text + ": in place of what stands above, the model reads a summary."
	}
	return text + ": the model does not read " + kinds.Count(len(c.Pruned), "older result") + " any more."
}

func promptTitle(m *transcript.Message) string {
	if !startsTurn(m) {
		return "Before the first prompt"
	}
	for _, text := range shownTexts(m) {
		if title := kinds.Line(text, titleRunes); title != "" {
			return title
		}
	}
	return "A prompt without text"
}

// shownTexts are the texts of a prompt as the user typed them.
func shownTexts(m *transcript.Message) []string {
	var texts []string
	for _, part := range m.Parts {
		if text, ok := part.(*transcript.TextPart); ok && !text.Synthetic {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// count adds a message to its turn, with the subagents of its calls.
func (c *Conversation) count(t *turn, m *transcript.Message) {
	if m.Usage != nil {
		t.usage = t.usage.Add(*m.Usage)
		if c.Price != nil {
			t.cost += c.Price(m.Model, *m.Usage)
		}
	}
	for _, call := range m.Calls() {
		t.calls++
		if changes(call) {
			t.changed++
		}
		c.countChild(t, call)
	}
}

func (c *Conversation) countChild(t *turn, call *transcript.ToolPart) {
	if call.Child == nil {
		return
	}
	record := call.Child.Record()
	t.usage = t.usage.Add(record.Usage)
	t.cost += record.Cost
	for _, m := range record.Messages {
		for _, call := range m.Calls() {
			c.countChild(t, call)
		}
	}
}

// changes reports whether a call shows a change of a file.
func changes(call *transcript.ToolPart) bool {
	for _, content := range call.Card.Content {
		if _, ok := content.(kinds.Diff); ok {
			return true
		}
	}
	return false
}

// shownTitle is the title of a call.
func shownTitle(call *transcript.ToolPart) string {
	title := strings.TrimSpace(call.Card.Title)
	if title == "" {
		title = kinds.Neutral(call.Name).Title
	}
	return kinds.Visible(title)
}

// saysMore reports whether a call has arguments that do not stand in its title.
func saysMore(call *transcript.ToolPart) bool {
	var args map[string]any
	if json.Unmarshal([]byte(call.Input), &args) != nil {
		return strings.TrimSpace(call.Input) != ""
	}
	for _, arg := range args {
		if text, ok := arg.(string); !ok || !strings.Contains(call.Card.Title, text) {
			return true
		}
	}
	return false
}

// output is what a call shows of its result.
func output(call *transcript.ToolPart) string {
	if call.Shown != "" {
		return call.Shown
	}
	return call.Text
}

// result is what a call shows of its result; isProse says that it is Markdown. Of a command it is
// the output, without what frames it for the model.
func result(call *transcript.ToolPart) (text string, isProse bool) {
	shown := output(call)
	if call.Tool == "bash" {
		if printed, framed := printedBy(shown); framed {
			return printed, false
		}
		return shown, false
	}
	for _, content := range call.Card.Content {
		if c, ok := content.(kinds.Text); ok {
			text += c.Text + "\n\n"
		}
	}
	if strings.TrimSpace(text) != "" {
		return strings.TrimSpace(text), true
	}
	return shown, false
}

// printedBy is what a command printed, and its exit code unless that is 0.
func printedBy(text string) (printed string, framed bool) {
	const begin, end, code = "<output>", "</output>", "<exit_code>"
	_, rest, found := strings.Cut(text, begin)
	at := strings.LastIndex(rest, end)
	if !found || at < 0 {
		return "", false
	}
	printed, rest = strings.TrimRight(rest[:at], "\n"), rest[at:]
	if _, after, found := strings.Cut(rest, code); found {
		if exit, _, _ := strings.Cut(after, "<"); exit != "0" {
			printed += "\nexit code " + exit
		}
	}
	return strings.Trim(printed, "\n"), true
}

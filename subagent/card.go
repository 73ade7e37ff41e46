package subagent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"acp-agent/internal/textcut"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Limits of the card of a call that delegates. ACP v1 can only send a card as a whole.
const (
	// cardBytes bounds the whole card.
	cardBytes = 8 << 10
	// cardTools bounds the number of tool calls listed; the last ones are shown.
	cardTools = 12
	// cardFiles bounds the number of changed files listed; the first ones are shown.
	cardFiles = 20
	// cardOutput bounds the excerpt of the subagent's last message, in bytes.
	cardOutput = 4 << 10

	// Limits of texts within one line, in runes.
	pathRunes   = 120
	titleRunes  = 90
	resultRunes = 60
	noteRunes   = 200
)

// cardLine is one tool call of a subagent as the card of the delegating call lists it.
type cardLine struct {
	// Title is the title of the call's own card.
	Title string
	State transcript.State
	// Result is a short outcome text; empty when there is nothing to add.
	Result string
}

// liveCard renders the state of a subagent: its path of names, what it has spent and its last tool
// calls (R70). lines are all its calls in start order. The card has at most 8 KB. Text from a
// model is quoted so that it cannot pass for text of acp-agent.
func liveCard(r transcript.ChildRecord, lines []cardLine, now time.Time) []kinds.Content {
	return draw(r, lines, nil, now)
}

// finalCard is the card of a subagent that has ended, with the files that it changed, relative to
// in.
func finalCard(d *tools.Delegated, lines []cardLine, in kinds.Place) []kinds.Content {
	modified := make([]string, len(d.Modified))
	for i, path := range d.Modified {
		modified[i] = in.Rel(path)
	}
	return draw(d.Record, lines, modified, d.Record.Ended)
}

// draw renders a card; modified are the changed files.
func draw(r transcript.ChildRecord, lines []cardLine, modified []string, now time.Time) []kinds.Content {
	c := &card{}
	c.add(heading(r, now))
	if r.Note != "" {
		c.add("Note: " + kinds.Code(r.Note, noteRunes))
	}
	if r.State == transcript.ChildRunning {
		c.add(currentStep(lines))
	}
	if r.State.Terminal() && strings.TrimSpace(r.Output) != "" {
		c.add(fenced(r.Output, cardOutput))
	}
	c.add(files(modified))
	c.add(calls(lines, c.left()))
	return []kinds.Content{kinds.Text{Text: c.text}}
}

// card collects blocks of Markdown up to cardBytes.
type card struct{ text string }

const gap = "\n\n"

// left returns how long the next block may be.
func (c *card) left() int { return cardBytes - len(c.text) - len(gap) }

// add appends a block if it fits.
func (c *card) add(block string) {
	switch {
	case block == "" || len(block) > c.left():
	case c.text == "":
		c.text = block
	default:
		c.text += gap + block
	}
}

// heading names the subagent, its state and what it has spent, in one line.
func heading(r transcript.ChildRecord, now time.Time) string {
	path := r.Path
	if len(path) == 0 {
		path = []string{r.Agent}
	}
	facts := []string{}
	if r.Steps > 0 {
		facts = append(facts, kinds.Count(r.Steps, "step"))
	}
	if r.Calls > 0 {
		facts = append(facts, kinds.Count(r.Calls, "tool call"))
	}
	if n := r.Usage.Total(); n > 0 {
		facts = append(facts, tokens(n))
	}
	if r.Cost > 0 {
		facts = append(facts, fmt.Sprintf("cost $%.4g", r.Cost))
	}
	facts = append(facts, elapsed(r, now))
	return kinds.Code(transcript.PathText(path), pathRunes) + " " + stateText(r) + ": " + strings.Join(facts, ", ")
}

// stateText is the state of a subagent in words.
func stateText(r transcript.ChildRecord) string {
	switch r.State {
	case transcript.ChildQueued:
		return "waits for its turn"
	case transcript.ChildRunning:
		if r.Background {
			return "runs in the background"
		}
		return "is running"
	case transcript.ChildDone:
		return "is done"
	case transcript.ChildFailed:
		return "failed"
	case transcript.ChildCancelled:
		return "was cancelled"
	}
	return "was lost"
}

func elapsed(r transcript.ChildRecord, now time.Time) string {
	return r.Elapsed(now).Truncate(time.Second).String()
}

func tokens(n int) string {
	if n < 10_000 {
		return kinds.Count(n, "token")
	}
	return fmt.Sprintf("%dk tokens", n/1000)
}

// currentStep says what a running subagent does: its unfinished tool calls, or waiting for the
// model.
func currentStep(lines []cardLine) string {
	open := []cardLine{}
	for _, l := range lines {
		if !l.State.Terminal() {
			open = append(open, l)
		}
	}
	switch len(open) {
	case 0:
		return "Now: waiting for the model"
	case 1:
		return "Now: " + kinds.Code(open[0].Title, titleRunes)
	}
	return fmt.Sprintf("Now: %s and %d more", kinds.Code(open[0].Title, titleRunes), len(open)-1)
}

// files lists the changed files.
func files(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Changed files:\n")
	for i, path := range paths {
		if i == cardFiles {
			fmt.Fprintf(&b, "\n- and %d more", len(paths)-i)
			break
		}
		b.WriteString("\n- " + kinds.Code(path, titleRunes))
	}
	return b.String()
}

// calls lists the last tool calls, as many as fit into limit bytes.
func calls(lines []cardLine, limit int) string {
	var list []string
	room := limit - len("Tool calls, 1000000 earlier ones not shown:\n")
	for _, l := range slices.Backward(lines) {
		text := "\n- " + callLine(l)
		if room -= len(text); room < 0 || len(list) == cardTools {
			break
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return ""
	}
	slices.Reverse(list)
	heading := "Tool calls:\n"
	if earlier := len(lines) - len(list); earlier > 0 {
		heading = fmt.Sprintf("Tool calls, %s not shown:\n", kinds.Count(earlier, "earlier one"))
	}
	return heading + strings.Join(list, "")
}

func callLine(l cardLine) string {
	text := kinds.Code(l.Title, titleRunes) + " " + callStateText(l.State)
	if result := strings.TrimSpace(l.Result); result != "" {
		text += ": " + kinds.Code(result, resultRunes)
	}
	return text
}

// callStateText is the state of a tool call in words.
func callStateText(s transcript.State) string {
	switch s {
	case transcript.Queued:
		return "waits"
	case transcript.BlockedOnUser:
		return "waits for your answer"
	case transcript.InProgress:
		return "is running"
	case transcript.Done:
		return "done"
	case transcript.Cancelled:
		return "cancelled"
	case transcript.Rejected:
		return "rejected"
	}
	return "failed"
}

// fenced returns text as a code block of at most limit bytes. The fence grows with runs of
// backticks in the text, so the text is cut until both fit.
func fenced(text string, limit int) string {
	whole := kinds.Visible(strings.TrimSpace(text))
	for keep := min(len(whole), limit); ; keep /= 2 {
		shown := whole
		if keep < len(whole) {
			shown = textcut.First(whole, keep) + "\n… (shortened here)"
		}
		if block := kinds.Fence("", shown); len(block) <= limit || keep == 0 {
			return block
		}
	}
}

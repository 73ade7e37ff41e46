package subagent

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Bounds of the card of a call that delegates, which v1 of the protocol can only send
// whole.
const (
	// cardBytes bounds all of it.
	cardBytes = 8 << 10
	// cardTools bounds the tool calls that it lists, the last ones.
	cardTools = 12
	// cardFiles bounds the changed files that it lists, the first ones.
	cardFiles = 20
	// cardOutput bounds what it shows of the subagent's last message, in bytes.
	cardOutput = 4 << 10

	// Bounds in runes of what stands in one line.
	pathRunes   = 120
	titleRunes  = 90
	resultRunes = 60
	noteRunes   = 200
)

// CardLine is a tool call of a subagent, as the card of the call that delegates lists it.
type CardLine struct {
	// Title is that of the call's own card.
	Title string
	State transcript.State
	// Result says in a few words what came of it; empty when there is nothing to say.
	Result string
}

// Card shows how a subagent stands: its state, where it is, what it has spent, and its
// last tool calls (R70). lines are all its calls in the order in which they began. It has
// at most 8 KB, and nothing in it that a model wrote can pose as something that the agent
// says.
func Card(r transcript.ChildRecord, lines []CardLine, now time.Time) []kinds.Content {
	return draw(r, lines, nil, now)
}

// Closing is the Card of a subagent that has ended, with the files that it has changed,
// relative to in.
func Closing(d *tools.Delegated, lines []CardLine, in kinds.Place) []kinds.Content {
	modified := make([]string, len(d.Modified))
	for i, path := range d.Modified {
		modified[i] = in.Rel(path)
	}
	return draw(d.Record, lines, modified, d.Record.Ended)
}

func draw(r transcript.ChildRecord, lines []CardLine, modified []string, now time.Time) []kinds.Content {
	c := &card{}
	c.add(heading(r, now))
	if r.Note != "" {
		c.add("Note: " + kinds.Code(r.Note, noteRunes))
	}
	if r.State == transcript.ChildRunning {
		c.add(step(lines))
	}
	if r.State.Terminal() && strings.TrimSpace(r.Output) != "" {
		c.add(fenced(r.Output, cardOutput))
	}
	c.add(files(modified))
	c.add(calls(lines, c.left()))
	return []kinds.Content{kinds.Text{Text: c.text}}
}

// card is blocks of Markdown of at most cardBytes in all.
type card struct{ text string }

const gap = "\n\n"

// left is how long the next block may be.
func (c *card) left() int { return cardBytes - len(c.text) - len(gap) }

// add appends a block that has room.
func (c *card) add(block string) {
	switch {
	case block == "" || len(block) > c.left():
	case c.text == "":
		c.text = block
	default:
		c.text += gap + block
	}
}

// heading says in one line who it is, how it stands and what it has spent.
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
	return kinds.Code(transcript.PathText(path), pathRunes) + " " + standing(r) + ": " + strings.Join(facts, ", ")
}

func standing(r transcript.ChildRecord) string {
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

// step says what a running subagent does: its tool calls that have not ended, or that it
// waits for its model.
func step(lines []CardLine) string {
	open := []CardLine{}
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

// files lists what was changed.
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

// calls lists the last tool calls, as many as limit bytes hold.
func calls(lines []CardLine, limit int) string {
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
	head := "Tool calls:\n"
	if earlier := len(lines) - len(list); earlier > 0 {
		head = fmt.Sprintf("Tool calls, %s not shown:\n", kinds.Count(earlier, "earlier one"))
	}
	return head + strings.Join(list, "")
}

func callLine(l CardLine) string {
	text := kinds.Code(l.Title, titleRunes) + " " + stateWords(l.State)
	if result := strings.TrimSpace(l.Result); result != "" {
		text += ": " + kinds.Code(result, resultRunes)
	}
	return text
}

func stateWords(s transcript.State) string {
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

// fenced is a block of code of at most limit bytes. Its fence grows with the runs of
// backticks in the text, so the text is cut until both have room.
func fenced(text string, limit int) string {
	whole := kinds.Visible(strings.TrimSpace(text))
	for keep := min(len(whole), limit); ; keep /= 2 {
		shown := whole
		if keep < len(whole) {
			for keep > 0 && !utf8.RuneStart(whole[keep]) {
				keep--
			}
			shown = whole[:keep] + "\n… (shortened here)"
		}
		if block := kinds.Fence("", shown); len(block) <= limit || keep == 0 {
			return block
		}
	}
}

package editor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"acp-agent/internal/testkit/acptest"
)

// Loss is something that the user of an editor does not see, or that goes wrong there.
type Loss struct {
	// What is one of output, diff, busy, title, text, question and answer.
	What string
	// Detail says which, for people.
	Detail string
}

func (l Loss) String() string { return l.What + ": " + l.Detail }

// Judge names what the user of an editor loses of a run: it holds what the user has seen against what
// was sent, which is what an editor shows that keeps everything.
func Judge(e Editor, lines []acptest.Line) []Loss {
	j := &judge{editor: e}
	seen, sent := Show(e, lines), Show(nil, lines)
	for _, session := range slices.Sorted(maps.Keys(sent)) {
		j.session(seen[session], sent[session])
	}
	return j.losses
}

// JudgeUnnamed is Judge for a run whose client gave another name than the editor's: what
// the agent does for an editor that it knows by its name is not judged.
func JudgeUnnamed(e Editor, lines []acptest.Line) []Loss {
	return slices.DeleteFunc(Judge(unnamed{e}, lines), func(l Loss) bool {
		return l.What != "output" && l.What != "diff" && l.What != "busy"
	})
}

// unnamed is an editor that the agent does not know by its name. It listens all the time.
type unnamed struct{ Editor }

func (unnamed) Drops(string) bool { return false }

type judge struct {
	editor Editor
	losses []Loss
}

// lose adds a loss, once.
func (j *judge) lose(what, format string, args ...any) {
	l := Loss{what, fmt.Sprintf(format, args...)}
	if !slices.Contains(j.losses, l) {
		j.losses = append(j.losses, l)
	}
}

func (j *judge) session(seen, sent *Screen) {
	for _, item := range sent.Items {
		if item.Kind == Tool {
			j.card(seen, sent, item.Card)
		}
	}
	j.texts(seen, sent)
	for _, q := range seen.Questions {
		j.question(q)
	}
}

// card holds a card against the call as the protocol has it.
func (j *judge) card(seen, sent *Screen, call *Card) {
	c := seen.cards[call.ID]
	switch {
	case seen.unheardCalls[call.ID]:
		return
	case c == nil:
		j.lose("output", "the card %q was never shown", call.Title)
		return
	}
	look := j.editor.Look(seen, c)
	if look.Busy && !call.busy() {
		j.lose("busy", "%q looks unfinished", call.Title)
	}
	j.title(c, look)
	if call.busy() {
		return
	}
	for _, p := range parts(call.Content) {
		if j.editor.Never(p) == "" && !shows(seen, sent, look, p) {
			j.lose(lossOf(p), "%q shows nothing of %s", call.Title, p.brief(sent))
		}
	}
	j.exit(seen, sent, look, call)
}

func lossOf(p Part) string {
	if p.Kind == "diff" {
		return "diff"
	}
	return "output"
}

// brief says what a part is.
func (p Part) brief(s *Screen) string {
	switch p.Kind {
	case "diff":
		return "the diff of " + base(p.Path)
	case "terminal":
		if t := s.Terminals[p.ID]; t != nil {
			return fmt.Sprintf("the terminal with %q", head(t.Text, 60))
		}
		return "a terminal"
	}
	return fmt.Sprintf("%q", head(flat(p.Text), 60))
}

// shows reports whether a part that was sent is in what a card shows.
func shows(seen, sent *Screen, look View, want Part) bool {
	if want.Kind == "terminal" {
		t := sent.Terminals[want.ID]
		if t == nil || strings.TrimSpace(t.Text) == "" {
			return true
		}
		for _, p := range look.Parts {
			if p.Kind == "terminal" && p.ID == want.ID && seen.Terminals[p.ID] != nil || p.Kind == "text" && strings.Contains(flat(p.Text), flat(t.Text)) {
				return true
			}
		}
		return false
	}
	if want.Kind == "text" && strings.TrimSpace(want.Text) == "" {
		return true
	}
	return slices.ContainsFunc(look.Parts, func(p Part) bool { return p.covers(want) })
}

// covers reports whether a part that is shown has all of another.
func (p Part) covers(want Part) bool {
	switch {
	case p.Kind != want.Kind:
		return false
	case p.Kind == "diff":
		return p.Path == want.Path && p.New == want.New && p.Old == want.Old
	case p.Kind == "text":
		return strings.Contains(flat(p.Text), flat(want.Text))
	}
	return p.Text == want.Text
}

// exit insists that an exit code other than 0 can be seen where output can.
func (j *judge) exit(seen, sent *Screen, look View, c *Card) {
	if j.editor.Never(Part{Kind: "text", Text: "x"}) != "" || c.Kind != "execute" || c.Status != "completed" {
		return
	}
	code, _ := dig(c.Output, "data", "exit_code").(float64)
	for _, p := range parts(c.Content) {
		if t := sent.Terminals[p.ID]; p.Kind == "terminal" && t != nil && t.Exit != 0 {
			code = float64(t.Exit)
		}
	}
	if code == 0 {
		return
	}
	words := fmt.Sprintf("exit code %d", int(code))
	if signal := text(dig(c.Output, "data", "signal")); signal != "" {
		words = strings.ToLower(signal)
	}
	for _, p := range look.Parts {
		if p.Kind == "terminal" && look.Exits && seen.Terminals[p.ID] != nil || p.Kind == "text" && ends(p.Text, words) {
			return
		}
	}
	bySignal := code > 128 && strings.Contains(look.Title, "(killed by SIG") // as a shell counts it
	if !ends(look.Title, words) && !bySignal {
		j.lose("output", "%q ended with %s, which is not said", c.Title, words)
	}
}

// ends reports whether a text says how a command ended: "exit code 3", or "exit 3".
func ends(s, words string) bool {
	s = strings.ToLower(s)
	return strings.Contains(s, words) || strings.Contains(s, strings.Replace(words, "exit code", "exit", 1))
}

// texts insists that all that the agent says is on the screen, each message apart.
func (j *judge) texts(seen, sent *Screen) {
	all := flat(seen.chat() + "\n" + seen.unheardText)
	for _, item := range sent.Items {
		if item.Kind != Text {
			continue
		}
		for _, paragraph := range strings.Split(item.Text, "\n\n") {
			if !strings.Contains(all, flat(paragraph)) {
				j.lose("text", "%q was never shown", head(flat(paragraph), 60))
			}
		}
	}
	for _, item := range seen.Items {
		for _, joint := range item.Glued {
			j.lose("text", "two messages in one line: %q", joint)
		}
	}
}

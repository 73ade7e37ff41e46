package builtin

import (
	"fmt"
	"strings"

	"acp-agent/internal/textcut"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// bashCard is what a user sees of a finished command where no terminal shows
// it: its output as a block of code, and below what did not go as usual. exit
// is nil for a command that was cancelled.
func bashCard(v view, exit *tools.Exit) []kinds.Content {
	var parts []string
	if output := v.within(cardBytes).body(); strings.TrimSpace(output) != "" {
		parts = append(parts, kinds.Fence("console", output))
	}
	switch {
	case exit == nil:
		parts = append(parts, "stopped before it ended")
	case exit.Signal != "":
		parts = append(parts, "signal "+exit.Signal)
	case exit.Code != 0:
		parts = append(parts, fmt.Sprintf("exit code %d", exit.Code))
	case len(parts) == 0:
		parts = append(parts, "no output")
	}
	if v.cut {
		parts = append(parts, v.note)
	}
	if exit != nil {
		parts = append(parts, exit.Notes...)
	}
	return []kinds.Content{kinds.Text{Text: strings.Join(parts, "\n\n")}}
}

// within is the view with at most limit bytes of its two ends.
func (v view) within(limit int) view {
	over := len(v.head) + len(v.text) - limit
	if over <= 0 {
		return v
	}
	if !v.cut {
		v.cut, v.note = true, "the model was given them"
		v.head, v.text = v.text[:len(v.text)-limit/2], v.text[len(v.text)-limit/2:]
	}
	head := textcut.First(v.head, max(limit/2, limit-len(v.text)))
	tail := []byte(v.text[max(0, len(v.text)-(limit-len(head))):])
	lead, _ := splitEdges(tail, true, false)
	v.omitted += int64(len(v.head) - len(head) + len(v.text) - len(tail) + lead)
	v.head, v.text = head, string(tail[lead:])
	return v
}

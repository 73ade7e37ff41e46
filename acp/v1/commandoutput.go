package v1

import (
	"slices"
	"strings"
	"time"

	"acp-agent/internal/textcut"
	"acp-agent/transcript"
)

// Bounds of what the card of a running command shows, and how often.
const (
	// windowBytes bounds the text of a running command's card. Version 1 can only send the
	// whole text, so a window keeps the cost of n updates at O(n).
	windowBytes = 8 << 10
	// outputInterval and outputBytes pace a command's output.
	outputInterval = 100 * time.Millisecond
	outputBytes    = 32 << 10
)

// commandOutput is the output of a running command.
type commandOutput struct {
	waiting strings.Builder // not sent yet
	last    sentMark
	midLine bool // the output does not end with a line break

	// A plain card shows a window, which is the end of the output.
	window []byte
	cut    bool // the window has lost the beginning of the output
	fresh  bool // the window holds something that was not sent
}

// write appends output of the command.
func (o *commandOutput) write(text string) {
	o.waiting.WriteString(text)
	if text != "" {
		o.midLine = !strings.HasSuffix(text, "\n")
	}
}

// unsent reports whether there is output to send.
func (o *commandOutput) unsent() bool { return o.waiting.Len() > 0 || o.fresh }

// slideWindow moves the waiting output into the window.
func (o *commandOutput) slideWindow() {
	o.fresh = true
	o.window = append(o.window, o.waiting.String()...)
	o.waiting.Reset()
	if len(o.window) > windowBytes {
		o.window, o.cut = slices.Clone(textcut.Last(o.window, windowBytes)), true
	}
}

// windowText returns the text of the window, with the waiting output.
func (o *commandOutput) windowText() string {
	o.slideWindow()
	o.fresh = false
	if o.cut {
		return "…" + string(o.window)
	}
	return string(o.window)
}

// output handles a piece of a running command's output.
func (c *cards) output(e transcript.ToolOutput) {
	view := c.calls[e.CallID]
	if view == nil || view.pane == clientPane || view.pane == plainPane && c.out.replaying {
		return // the card of a stored call shows how it ended
	}
	view.output.write(e.Text)
	c.flushOutputDue(e.CallID, view)
}

// flushOutputDue sends the waiting output if it is due, and otherwise sets the timer.
func (c *cards) flushOutputDue(id string, view *callView) {
	if !view.output.unsent() {
		return
	}
	wait := c.out.wait(view.output.last, outputInterval)
	if wait == 0 || view.pane == agentPane && view.output.waiting.Len() >= outputBytes {
		c.out.flushText()
		c.flushOutput(id, view)
		return
	}
	if view.pane == plainPane && view.output.waiting.Len() >= windowBytes {
		view.output.slideWindow() // output between two updates must not accumulate
	}
	c.out.schedule(wait)
}

// flushOutput sends what a command has printed since the last time.
func (c *cards) flushOutput(id string, view *callView) {
	defer func() { view.output.last = c.out.mark() }()
	if view.pane == agentPane {
		key := "terminal_output"
		if c.out.client.terminalDelta {
			key = "terminal_output_delta"
		}
		text := view.output.waiting.String()
		view.output.waiting.Reset()
		c.update(id, view, change{meta: map[string]any{key: map[string]any{"terminal_id": id, "data": text}}})
		return
	}
	c.update(id, view, change{content: view.runningContent()})
}

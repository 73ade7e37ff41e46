package v1

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// jobView is what the editor knows of the job that a call started. The card of the call stays
// open, with the output, until the job ends; in an editor that cannot change a card once its turn
// has ended, it closes with the call, and the chat says when the job has ended.
type jobView struct {
	runs  bool // the call is answered, and the job goes on
	ended *transcript.JobEnded
}

// keepJob shows that a call is answered while its job goes on.
func (c *cards) keepJob(e transcript.ToolFinished, view *callView) {
	view.job.runs = true
	next := change{status: inProgress, title: e.Card.Title, kind: e.Card.Kind, locations: e.Card.Locations}
	if view.pane == plainPane {
		next.output = rawOutput(e)
		if len(view.content) == 0 && !view.output.unsent() {
			next.content = []kinds.Content{kinds.Text{Text: "It runs in the background."}}
		}
	}
	c.update(e.CallID, view, next)
	if view.job.ended != nil { // before the call was answered
		c.closeJob(*view.job.ended, view)
	}
}

// endJob handles the end of a job.
func (c *cards) endJob(e transcript.JobEnded) {
	view := c.calls[e.CallID]
	if view == nil {
		return
	}
	view.job.ended = &e
	if view.job.runs {
		c.closeJob(e, view)
	}
}

// closeJob gives the call of a job its final status.
func (c *cards) closeJob(e transcript.JobEnded, view *callView) {
	end := jobEnding(e)
	last := change{status: completed, last: true}
	if end != "" {
		last.tail = " (" + end + ")"
	}
	switch view.pane {
	case agentPane:
		view.output.writeEnding(end)
		if view.output.unsent() {
			c.flushOutput(e.CallID, view)
		}
		exit := map[string]any{"terminal_id": e.CallID, "exit_code": nil, "signal": nil}
		if e.State == "exited" {
			exit["exit_code"] = e.ExitCode
		}
		if e.Signal != "" {
			exit["signal"] = e.Signal
		}
		last.meta = map[string]any{"terminal_exit": exit}
	case plainPane:
		var parts []string
		if output := view.output.takeWindow(); strings.TrimSpace(output) != "" {
			parts = append(parts, kinds.Fence("console", output))
		}
		if end == "" {
			end = "it has ended"
		}
		last.content = []kinds.Content{kinds.Text{Text: strings.Join(append(parts, end), "\n\n")}}
	}
	delete(c.calls, e.CallID)
	c.update(e.CallID, view, last)
}

// jobEnding says in a few words how a job ended; "" where it did as it should.
func jobEnding(e transcript.JobEnded) string {
	data := outcome{ExitCode: &e.ExitCode, Signal: e.Signal}
	if e.State != "exited" {
		return e.State
	}
	return data.words()
}

package v1

import (
	"encoding/json"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// jobView is what the editor was sent about the job that a call started. The card of the call
// stays open, with the output, until the job ends; in an editor that cannot change a card after
// its turn, the card closes with the call, and the chat reports the end of the job.
type jobView struct {
	runs  bool // the call is answered, and the job goes on
	ended *transcript.JobEnded
	ports []kinds.Port
	// result is that of the call.
	result transcript.Envelope
}

// continueJob shows that a call is answered while its job goes on.
func (c *cards) continueJob(e transcript.ToolFinished, view *callView) {
	view.job.runs, view.job.result = true, e.Result
	next := change{status: inProgress, title: e.Card.Title, kind: e.Card.Kind, locations: e.Card.Locations}
	if view.pane == plainPane {
		next.output = view.job.rawOutput()
	}
	if len(view.job.ports) > 0 || view.pane == plainPane && len(view.content) == 0 && !view.output.unsent() {
		next.content = view.runningContent()
	}
	c.update(e.CallID, view, next)
	if view.job.ended != nil { // before the call was answered
		c.closeJob(*view.job.ended, view)
	}
}

// jobPorts shows on which ports a job listens, from the answer of its call on.
func (c *cards) jobPorts(e transcript.JobListens) {
	view := c.calls[e.CallID]
	if view == nil {
		return
	}
	same := slices.Equal(kinds.PortNumbers(view.job.ports), kinds.PortNumbers(e.Ports))
	view.job.ports = e.Ports
	if !view.job.runs {
		return
	}
	next := change{content: view.runningContent()}
	if view.pane == plainPane && !same {
		next.output = view.job.rawOutput()
	}
	c.out.flushText()
	c.update(e.CallID, view, next)
}

// runningContent is what the card of a command shows while it runs: its output, or the terminal that
// has it, and the ports of a job.
func (v *callView) runningContent() (content []kinds.Content) {
	var parts []string
	switch {
	case v.pane != plainPane:
		content = append(content, kinds.Terminal{ID: v.terminal})
	case v.output.unsent() || len(v.output.window) > 0:
		parts = append(parts, kinds.Fence("console", v.output.windowText()))
	default:
		parts = append(parts, "It runs in the background.")
	}
	for _, port := range v.job.ports {
		parts = append(parts, "It "+port.String()+".")
	}
	if len(parts) > 0 {
		content = append(content, kinds.Text{Text: strings.Join(parts, "\n\n")})
	}
	return content
}

// rawOutput is the result of the call that started a job, with the ports that it has now.
func (j *jobView) rawOutput() json.RawMessage {
	e := transcript.ToolFinished{Result: j.result}
	var data map[string]json.RawMessage
	if json.Unmarshal(j.result.Data, &data) != nil || data == nil {
		return rawOutput(e)
	}
	delete(data, "ports")
	if numbers := kinds.PortNumbers(j.ports); numbers != nil {
		data["ports"], _ = json.Marshal(numbers)
	}
	if changed, err := json.Marshal(data); err == nil {
		e.Result.Data = changed
	}
	return rawOutput(e)
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
		last.meta = jobOutcome(e).terminalExit(e.CallID)
	case plainPane:
		var parts []string
		if output := view.output.windowText(); strings.TrimSpace(output) != "" {
			parts = append(parts, kinds.Fence("console", output))
		}
		if end == "" {
			end = "it has ended"
		}
		last.content = []kinds.Content{kinds.Text{Text: strings.Join(append(parts, end), "\n\n")}}
	}
	if len(view.job.ports) > 0 { // they end with it
		view.job.ports = nil
		if view.pane == plainPane {
			last.output = view.job.rawOutput()
		} else {
			last.content = view.runningContent()
		}
	}
	delete(c.calls, e.CallID)
	c.update(e.CallID, view, last)
}

// jobEnding says in a few words how a job ended; "" where it did as it should.
func jobEnding(e transcript.JobEnded) string {
	if e.State != jobExited {
		return e.State
	}
	return jobOutcome(e).words()
}

// jobExited is the state of a job whose process ended by itself; no other has an exit code.
const jobExited = "exited"

func jobOutcome(e transcript.JobEnded) outcome {
	how := outcome{Signal: e.Signal}
	if e.State == jobExited {
		how.ExitCode = &e.ExitCode
	}
	return how
}

package v1

import (
	"cmp"
	"encoding/json"
	"fmt"

	"acp-agent/internal/textcut"
	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// Bounds of what a finished card shows; the whole stands in the sidecar.
const (
	// contentBytes bounds its text.
	contentBytes = 64 << 10
	// rawBytes bounds the data within rawOutput, which mostly repeats the content.
	rawBytes = 16 << 10
)

// finishCall sends a call's end. A call that was never shown and never will
// run is shown now, so that the editor and the model agree on what happened.
func (t *translator) finishCall(e transcript.ToolFinished, of *childView) {
	view := t.calls[e.CallID]
	if view == nil {
		return
	}
	t.asks(of, view, false)
	if view.stage == held {
		view.hold(change{title: e.Card.Title, kind: e.Card.Kind})
		t.unhold(e.CallID, view)
	}
	if view.stage < opened {
		t.open(e.CallID, view, change{})
	}
	end := ending(e, view.kind)
	if view.pane == agentPane {
		view.closing(end)
	}
	if view.pane == agentPane && view.waiting.Len() > 0 {
		t.flushOutput(e.CallID, view)
	}
	child := t.children[e.CallID]
	if e.Background && e.State == transcript.Done && child != nil {
		t.keepOpen(e, view, child)
		return
	}
	delete(t.calls, e.CallID)
	if child != nil && child.ended != nil {
		delete(t.children, e.CallID)
	}
	t.update(e.CallID, view, lastChange(e, view, child, end))
}

// lastChange is the change that ends a call; end says how its command ended.
func lastChange(e transcript.ToolFinished, view *callView, child *childView, end string) change {
	c := change{status: failed, locations: e.Card.Locations, title: e.Card.Title, kind: e.Card.Kind, last: true}
	if e.State == transcript.Done {
		c.status = completed
	}
	if end != "" {
		c.tail = " (" + end + ")"
	}
	c.content = finalContent(e, view)
	if child != nil && child.ended != nil && e.State != transcript.Done && e.Card.Content == nil {
		c.content = append(c.content, child.ended.Card.Content...) // how far it came
	}
	if view.pane == plainPane || e.State != transcript.Done {
		c.output = rawOutput(e)
	}
	if view.pane == agentPane {
		c.meta = map[string]any{"terminal_exit": terminalExit(e)}
	}
	return c
}

// finalContent is what a finished card shows: what the tool chose, or its text.
// A terminal goes on showing itself.
func finalContent(e transcript.ToolFinished, view *callView) []kinds.Content {
	if e.State != transcript.Done {
		return failedContent(e, view)
	}
	if view.pane != plainPane {
		return nil
	}
	if e.Card.Content != nil {
		return e.Card.Content
	}
	text := cmp.Or(e.Shown, e.Text)
	switch {
	case text != "":
	case view.asked != nil: // a client may still show the question
		return []kinds.Content{kinds.Text{Text: "Done."}}
	default:
		return nil
	}
	language := ""
	if view.kind == kinds.Execute {
		language = "console"
	}
	return []kinds.Content{kinds.Text{Text: kinds.Fence(language, clip(text))}}
}

// failedContent is what a card shows of a call that failed, without what is for the model
// alone. Of one that was rejected it still shows the change that the user did not want.
func failedContent(e transcript.ToolFinished, view *callView) []kinds.Content {
	var content []kinds.Content
	if view.pane != plainPane {
		content = append(content, kinds.Terminal{ID: view.terminal})
	}
	content = append(content, kinds.Text{Text: clip(cmp.Or(e.Shown, e.Text))})
	if view.pane == plainPane { // what the tool shows of what it had done by then
		content = append(content, e.Card.Content...)
	}
	if e.State != transcript.Rejected || view.asked == nil {
		return content
	}
	for _, c := range view.running {
		if diff, ok := c.(kinds.Diff); ok {
			content = append(content, diff)
		}
	}
	return content
}

// outcome is what the data of a result says of how a command ended.
type outcome struct {
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`
	OK       *bool  `json:"ok"` // of several commands
}

// ending says in a few words that a command did not end well, and is empty for one that
// did and for calls of other kinds. Such a command is a completed call all the same (R55),
// and its card looks like that of any other.
func ending(e transcript.ToolFinished, kind kinds.Kind) string {
	if kind != kinds.Execute {
		return ""
	}
	if failure := e.Result.Error; failure != nil && failure.Kind == string(tools.Timeout) {
		return "timed out"
	}
	if e.State == transcript.Cancelled {
		return "cancelled"
	}
	var how outcome
	if e.State != transcript.Done || json.Unmarshal(e.Result.Data, &how) != nil {
		return ""
	}
	switch {
	case how.Signal != "":
		return "killed by " + kinds.Line(how.Signal, nameRunes)
	case how.ExitCode != nil && *how.ExitCode != 0:
		return fmt.Sprintf("exit %d", *how.ExitCode)
	case how.OK != nil && !*how.OK:
		return "failed"
	}
	return ""
}

// closing adds to a terminal of ours how its command ended: editors are sent the exit
// code, too, and do not all show it.
func (v *callView) closing(end string) {
	if end == "" {
		return
	}
	if v.midLine {
		v.waiting.WriteString("\n")
	}
	v.waiting.WriteString("[" + end + "]\n")
}

// terminalExit says how the command in a terminal of ours ended.
func terminalExit(e transcript.ToolFinished) map[string]any {
	exit := map[string]any{"terminal_id": e.CallID, "exit_code": nil, "signal": nil}
	var data outcome
	if json.Unmarshal(e.Result.Data, &data) == nil {
		if data.ExitCode != nil {
			exit["exit_code"] = *data.ExitCode
		}
		if data.Signal != "" {
			exit["signal"] = data.Signal
		}
	}
	return exit
}

// rawOutput is the envelope of a result. Data that the card cannot hold is
// left out: the model's copy and the sidecar have it.
func rawOutput(e transcript.ToolFinished) json.RawMessage {
	envelope := e.Result
	if len(envelope.Data) > rawBytes {
		envelope.Data = nil
	}
	envelope.ErrorText = clip(envelope.ErrorText)
	raw, err := json.Marshal(envelope)
	if err != nil {
		return nil
	}
	return raw
}

// clip bounds a text and says so.
func clip(text string) string {
	if len(text) <= contentBytes {
		return text
	}
	return textcut.First(text, contentBytes) + "\n… (shortened here; the model has more)"
}

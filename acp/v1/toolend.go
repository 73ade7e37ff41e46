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

// Bounds of what a finished card shows; the sidecar holds the whole.
const (
	// contentBytes bounds its text.
	contentBytes = 64 << 10
	// rawBytes bounds the data within rawOutput, which mostly repeats the content.
	rawBytes = 16 << 10
)

// finishCall sends the end of a call. A call that was never shown, and never will run, is
// shown now, so that the editor and the model agree on what happened.
func (c *cards) finishCall(e transcript.ToolFinished, child *childView) {
	view := c.calls[e.CallID]
	if view == nil {
		return
	}
	c.out.noteQuestion(child, view, false)
	if view.stage == held {
		view.updateHeld(change{title: e.Card.Title, kind: e.Card.Kind})
		c.showHeld(e.CallID, view)
	}
	if view.stage < opened {
		c.open(e.CallID, view, change{})
	}
	end := ending(e, view.kind)
	if view.pane == agentPane && c.out.replaying && e.State == transcript.Done { // it came in pieces; only the result is stored
		view.output.write(storedOutput(e))
	}
	if view.pane == agentPane {
		view.output.writeEnding(end)
	}
	if view.pane == agentPane && view.output.waiting.Len() > 0 {
		c.flushOutput(e.CallID, view)
	}
	spawned := c.children[e.CallID]
	if e.Background && e.State == transcript.Done && spawned == nil && !c.out.replaying && !c.out.client.dropsBetweenTurns {
		c.continueJob(e, view)
		return
	}
	if e.Background && e.State == transcript.Done && spawned != nil {
		c.continueChild(e, view, spawned)
		return
	}
	delete(c.calls, e.CallID)
	if spawned != nil && spawned.ended != nil {
		delete(c.children, e.CallID)
	}
	c.update(e.CallID, view, lastChange(e, view, spawned, end))
}

// lastChange is the change that ends a call; end says how its command ended, and spawned is
// the subagent that it started, or nil.
func lastChange(e transcript.ToolFinished, view *callView, spawned *childView, end string) change {
	c := change{status: failed, locations: e.Card.Locations, title: e.Card.Title, kind: e.Card.Kind, last: true}
	if e.State == transcript.Done {
		c.status = completed
	}
	if end != "" {
		c.tail = " (" + end + ")"
	}
	c.content = finalContent(e, view)
	if spawned != nil && spawned.ended != nil && e.State != transcript.Done && e.Card.Content == nil {
		c.content = append(c.content, spawned.ended.Card.Content...) // how far it got
	}
	if view.pane == plainPane || e.State != transcript.Done {
		c.output = rawOutput(e)
	}
	if view.pane == agentPane {
		var how outcome
		if json.Unmarshal(e.Result.Data, &how) != nil {
			how = outcome{}
		}
		c.meta = how.terminalExit(e.CallID)
	}
	return c
}

// finalContent is the content of a finished card: what the tool chose, or its text. A card
// with a terminal keeps showing that.
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
	case view.requests.shown != nil: // a client may still show the question
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

// failedContent is the content of the card of a failed call, without text that is only for the
// model. The card of a rejected call shows the change that the user rejected.
func failedContent(e transcript.ToolFinished, view *callView) []kinds.Content {
	var content []kinds.Content
	if view.pane != plainPane {
		content = append(content, kinds.Terminal{ID: view.terminal})
	}
	content = append(content, kinds.Text{Text: clip(cmp.Or(e.Shown, e.Text))})
	if view.pane == plainPane || e.State == transcript.Rejected { // what the tool had done, or wanted to do
		content = append(content, e.Card.Content...)
	}
	return content
}

// outcome is how a command ended, read from the data of its result.
type outcome struct {
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal"`
	OK       *bool  `json:"ok"` // of several commands
}

// ending says in a few words that a command failed, and is empty for a successful one and for
// calls of other kinds. A failed command is a completed call all the same (R55), so its card
// looks like any other.
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
	return how.words()
}

func (how outcome) words() string {
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

// terminalExit is the _meta of a card with a terminal of ours: how the command in it ended.
func (how outcome) terminalExit(callID string) map[string]any {
	exit := map[string]any{"terminal_id": callID, "exit_code": nil, "signal": nil}
	if how.ExitCode != nil {
		exit["exit_code"] = *how.ExitCode
	}
	if how.Signal != "" {
		exit["signal"] = how.Signal
	}
	return map[string]any{"terminal_exit": exit}
}

// writeEnding writes to a terminal of ours how its command ended. Editors are sent the exit
// code as well, but not all show it.
func (o *commandOutput) writeEnding(end string) {
	if end == "" {
		return
	}
	if o.midLine {
		o.waiting.WriteString("\n")
	}
	o.waiting.WriteString("[" + end + "]\n")
}

// storedOutput is what is stored of a command's output.
func storedOutput(e transcript.ToolFinished) string {
	var data struct {
		Head   string `json:"head"`
		Output string `json:"output"`
	}
	if json.Unmarshal(e.Result.Data, &data) != nil || data.Output == "" {
		return cmp.Or(e.Shown, e.Text)
	}
	if data.Head != "" {
		return data.Head + "\n…\n" + data.Output
	}
	return data.Output
}

// rawOutput is the envelope of a result, without data that is too large for a card: the
// sidecar and the model have it.
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

// clip bounds a text, and says so if it had to.
func clip(text string) string {
	if len(text) <= contentBytes {
		return text
	}
	return textcut.First(text, contentBytes) + "\n… (shortened here; the model has more)"
}

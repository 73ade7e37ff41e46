package app

import (
	"fmt"
	"io"
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// subagent notes what a subagent does. parent is the call that spawned the subagent of the event,
// "" for the main agent.
func (r *report) subagent(parent string, e transcript.Event) {
	switch e := e.(type) {
	case transcript.ChildStarted:
		r.paths[e.CallID] = transcript.PathText(e.Child.Record().Path)
	case transcript.ChildEvent:
		r.subagent(e.CallID, e.Event)
	case transcript.ChildFinished:
		record := e.Child.Record()
		text := fmt.Sprintf("%s: %s, tool calls: %d", transcript.PathText(record.Path), record.State, record.Calls)
		if record.Note != "" {
			text += ": " + record.Note
		}
		r.note(text)
	case transcript.ToolFinished:
		r.note(fmt.Sprintf("%s > %s: %s", r.paths[parent], e.Card.Title, ending(e)))
	case transcript.Notice:
		r.note(r.paths[parent] + ": " + e.Text)
	case transcript.Compacted:
		r.note(r.paths[parent] + ": " + e.Message.Compaction.Sentence())
	}
}

// aside prints what a subagent reports after the answer.
func (r *report) aside(text string) {
	if r.asJSON {
		return // the object has it with its subagent
	}
	r.endLine()
	fmt.Fprintln(r.out)
	io.WriteString(r.out, kinds.Visible(text))
	r.midLine = !strings.HasSuffix(text, "\n")
	r.endLine()
}

// waiting notes which subagents are waited for.
func (r *report) waiting(all []transcript.ChildRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, record := range all {
		if !record.State.Terminal() {
			names = append(names, transcript.PathText(record.Path))
		}
	}
	if len(names) > 0 {
		r.endLine()
		r.note("waiting for subagents in the background: " + strings.Join(names, ", "))
	}
}

// subagents keeps the session's subagents for the object of --json.
func (r *report) subagents(all []transcript.ChildRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Subagents = append(r.result.Subagents, all...)
}

package store

import (
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// foldCall folds an event of a tool call; isCall is false when it is none.
func (r *Recorder) foldCall(t *openConversation, e transcript.Event) (needed need, isCall bool) {
	switch e := e.(type) {
	case transcript.ToolStarted:
		r.startCall(t, e)
	case transcript.ToolInput:
		if call := t.calls[e.CallID]; call != nil {
			call.input.WriteString(e.Delta)
		}
	case transcript.ToolReplay:
		if call := t.calls[e.CallID]; call != nil {
			call.part.Replay = e.Data
		}
	case transcript.ToolReady:
		if call := t.calls[e.CallID]; call != nil {
			call.part.Ready(e)
			call.input.Reset()
			call.ready = true
			r.addPart(line{sub: t.sub, of: call.of, n: call.n}, &call.part)
		}
		return written, true
	case transcript.ToolOutput:
		if call := t.calls[e.CallID]; call != nil {
			call.printed.Add(e.Text)
		}
	case transcript.ToolState:
		return r.moveCall(t, e), true
	case transcript.ToolFinished:
		return r.finishCall(t, e), true
	default:
		return later, false
	}
	return later, true
}

func (r *Recorder) startCall(t *openConversation, e transcript.ToolStarted) {
	m := t.open[e.MessageID]
	if m == nil {
		return
	}
	call := &openCall{of: e.MessageID, n: m.parts}
	call.part = transcript.ToolPart{CallID: e.CallID, Name: e.Name, Tool: e.Tool, Card: e.Card, State: transcript.Queued}
	m.parts++
	t.calls[e.CallID] = call
	r.addPart(line{sub: t.sub, of: call.of, n: call.n}, &call.part)
}

// moveCall stores the state of a call. A call that may have effects starts only when that is on the disk.
func (r *Recorder) moveCall(t *openConversation, e transcript.ToolState) need {
	call := t.calls[e.CallID]
	if call == nil {
		return later
	}
	call.part.State = e.State
	r.addCallState(line{sub: t.sub, of: call.of, n: call.n}, e.State)
	switch {
	case e.State == transcript.BlockedOnUser:
		return syncStarted
	case e.State == transcript.InProgress && hasEffects(call.part.Card.Kind):
		return synced
	}
	return written
}

// hasEffects reports whether calls of a kind may change something outside the session.
func hasEffects(kind kinds.Kind) bool {
	return kind != kinds.Read && kind != kinds.Search && kind != kinds.Think && kind != kinds.Fetch
}

func (r *Recorder) finishCall(t *openConversation, e transcript.ToolFinished) need {
	call := t.calls[e.CallID]
	if call == nil {
		return later
	}
	delete(t.calls, e.CallID)
	part := &call.part
	l := line{sub: t.sub, of: call.of, n: call.n}
	if part.Input == "" {
		part.Input = call.input.String()
	}
	result := e.Result
	part.State, part.Card, part.Result, part.Text, part.Shown, part.Images = e.State, e.Card, &result, e.Text, e.Shown, e.Images
	part.Printed = call.printed.At(e.State)
	if call.ready {
		// The line before has the input, which can be long.
		part.Input, part.Complete, part.Args, l.op = "", false, nil, opEnd
	}
	r.addPart(l, part)
	if m := t.open[call.of]; m != nil && len(t.calls) == 0 {
		m.head.Finished = true
		r.addHead(t, &m.head)
		r.forget(t, call.of)
	}
	return syncStarted
}

package transcript

// Unfold emits the events of a message in their original order, so that a Log that applies them has the
// message. A call that has not ended stays open. The conversation of an opaque subagent comes before the end
// of the call that spawned it.
func Unfold(m *Message, emit func(Event)) {
	switch {
	case m.Role == User:
		emit(UserSaid{Message: m})
	case m.Clears:
		emit(Cleared{MessageID: m.ID, At: m.Created})
	case m.Compaction != nil:
		emit(Compacted{Message: m})
	case m.Synthetic:
		emit(AgentSaid{Message: m})
	default:
		unfoldStep(m, emit)
	}
}

// unfoldStep emits the answer of a model: all of its parts, its end, and then its calls.
func unfoldStep(m *Message, emit func(Event)) {
	emit(StepStarted{MessageID: m.ID, Model: m.Model, Digest: m.Digest, At: m.Created})
	for _, part := range m.Parts {
		switch part := part.(type) {
		case *TextPart:
			emit(PartStarted{MessageID: m.ID, PartID: part.ID, Kind: TextKind})
			unfoldText(part.ID, part.Text, emit)
		case *ReasoningPart:
			emit(PartStarted{MessageID: m.ID, PartID: part.ID, Kind: ReasoningKind})
			if part.Replay != nil {
				emit(PartReplay{PartID: part.ID, Data: part.Replay})
			}
			unfoldText(part.ID, part.Text, emit)
		case *ToolPart:
			emit(ToolStarted{MessageID: m.ID, CallID: part.CallID, Name: part.Name, Tool: part.Tool, Card: part.Card})
			if part.Replay != nil {
				emit(ToolReplay{CallID: part.CallID, Data: part.Replay})
			}
		}
	}
	emit(StepFinished{MessageID: m.ID, Usage: m.Usage, Origin: m.Origin})
	for _, call := range m.Calls() {
		if !call.Complete {
			continue
		}
		emit(call.ready())
	}
	for _, call := range m.Calls() {
		unfoldCall(call, emit)
	}
}

// UnfoldCall emits the events of a call of a message from its start. It is for messages that the agent itself
// has written: Unfold emits an AgentSaid for them, without events of their calls.
func UnfoldCall(messageID string, call *ToolPart, emit func(Event)) {
	emit(ToolStarted{MessageID: messageID, CallID: call.CallID, Name: call.Name, Tool: call.Tool, Card: call.Card})
	emit(call.ready())
	unfoldCall(call, emit)
}

func unfoldText(id, text string, emit func(Event)) {
	if text != "" {
		emit(PartDelta{PartID: id, Text: text})
	}
	emit(PartEnded{PartID: id})
}

func (p *ToolPart) ready() ToolReady {
	return ToolReady{CallID: p.CallID, Tool: p.Tool, Input: p.Input, Args: p.ran(), Card: p.Card}
}

// ran are the arguments with which the call ran.
func (p *ToolPart) ran() []byte {
	switch string(p.Args) {
	case "":
		return []byte(p.Input)
	case "null":
		return nil
	}
	return p.Args
}

func unfoldCall(call *ToolPart, emit func(Event)) {
	if !call.State.Terminal() {
		emit(ToolState{CallID: call.CallID, State: call.State})
		unfoldChild(call, emit)
		return
	}
	unfoldChild(call, emit)
	if call.Printed != "" {
		emit(ToolOutput{CallID: call.CallID, Text: call.Printed})
	}
	end := ToolFinished{
		CallID: call.CallID, State: call.State, Card: call.Card, Text: call.Text, Shown: call.Shown, Images: call.Images,
		Background: call.Child != nil && call.Child.Brief().Background,
	}
	if call.Result != nil {
		end.Result = *call.Result
	}
	emit(end)
}

// unfoldChild emits the subagent of a call, with its conversation.
func unfoldChild(call *ToolPart, emit func(Event)) {
	if call.Child == nil {
		return
	}
	record := call.Child.Record()
	emit(ChildStarted{CallID: call.CallID, Child: call.Child})
	for _, m := range record.Messages {
		Unfold(m, func(e Event) { emit(ChildEvent{CallID: call.CallID, Event: e}) })
	}
	if record.State.Terminal() {
		emit(ChildFinished{CallID: call.CallID, Child: call.Child, Card: call.Child.End()})
	}
}

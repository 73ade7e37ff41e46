package v1

import (
	"encoding/json"
	"maps"
	"math"
	"time"

	"acp-agent/acp/schema"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// status is a tool call's status on the wire.
type status = schema.ToolCallStatus

const (
	pending    = schema.ToolCallStatusPending
	inProgress = schema.ToolCallStatusInProgress
	completed  = schema.ToolCallStatusCompleted
	failed     = schema.ToolCallStatusFailed
)

// change is what one message says about a call. A zero field leaves the value as it is.
type change struct {
	status    status
	title     string
	kind      kinds.Kind
	locations []kinds.Location
	content   []kinds.Content
	input     json.RawMessage
	output    json.RawMessage
	meta      map[string]any
	// last marks the end of the call, which is sent even if nothing else changed.
	last bool
	// tail follows the title of a command and says how the command ended.
	tail string
}

// empty reports whether a change says nothing that a client has to be sent.
func (c change) empty() bool {
	return c.title == "" && c.kind == "" && c.status == "" && c.locations == nil && c.content == nil &&
		c.input == nil && c.output == nil && c.meta == nil && !c.last
}

// toolCall is the first message of a call, whose title, kind and locations are those of view.
func (c change) toolCall(id string, view *callView) schema.ToolCall {
	call := schema.ToolCall{
		ToolCallID: schema.ToolCallId(id), Title: view.title, Name: view.name, Kind: schema.ToolKind(view.kind), Status: pending,
		Locations: locations(view.locations), Content: contents(c.content), RawInput: c.input,
		Meta: map[string]any{"tool_name": view.name},
	}
	maps.Copy(call.Meta, view.meta(c.meta))
	return call
}

// sessionUpdate is a later message of a call.
func (c change) sessionUpdate(id string) schema.SessionToolCallUpdate {
	return schema.SessionToolCallUpdate{ToolCallUpdate: c.update(id, "")}
}

// update is the change in the form of the protocol. name is the name of the tool, or "" where
// the client has it already.
func (c change) update(id, name string) schema.ToolCallUpdate {
	update := schema.ToolCallUpdate{
		ToolCallID: schema.ToolCallId(id), Kind: schema.ToolKind(c.kind), Status: c.status, Name: name,
		Locations: locations(c.locations), Content: contents(c.content), RawInput: c.input, RawOutput: c.output, Meta: c.meta,
	}
	if c.title != "" {
		update.Title = &c.title
	}
	return update
}

func locations(from []kinds.Location) []schema.ToolCallLocation {
	if from == nil {
		return nil
	}
	list := []schema.ToolCallLocation{} // an empty list removes what was shown
	for _, l := range from {
		location := schema.ToolCallLocation{Path: l.Path}
		if l.Line > 0 {
			location.Line = pointer(uint32(l.Line))
		}
		list = append(list, location)
	}
	return list
}

func contents(from []kinds.Content) []schema.ToolCallContent {
	if from == nil {
		return nil
	}
	list := []schema.ToolCallContent{} // an empty list removes what was shown
	for _, content := range from {
		switch content := content.(type) {
		case kinds.Text:
			list = append(list, schema.Content{Content: schema.TextContent{Text: content.Text}})
		case kinds.Image:
			list = append(list, schema.Content{Content: schema.ImageContent{MimeType: content.MediaType, Data: content.Data}})
		case kinds.Diff:
			list = append(list, schema.Diff{Path: content.Path, OldText: content.Old, NewText: content.New})
		case kinds.Terminal:
			list = append(list, schema.Terminal{TerminalID: schema.TerminalId(content.ID)})
		}
	}
	return list
}

func textUpdate(kind transcript.PartKind, message, text string) schema.SessionUpdate {
	content := schema.TextContent{Text: text}
	if kind == transcript.ReasoningKind {
		return schema.AgentThoughtChunk{Content: content, MessageID: schema.MessageId(message)}
	}
	return schema.AgentMessageChunk{Content: content, MessageID: schema.MessageId(message)}
}

func usageUpdate(e transcript.UsageChanged) schema.SessionUpdate {
	update := schema.UsageUpdate{Used: uint64(e.Used), Size: uint64(e.Size)}
	if e.Cost > 0 {
		// Prices are per million tokens, so a sum has more digits than are meaningful.
		update.Cost = &schema.Cost{Amount: math.Round(e.Cost*1e6) / 1e6, Currency: "USD"}
	}
	return update
}

func titleUpdate(e transcript.TitleChanged) schema.SessionUpdate {
	return schema.SessionInfoUpdate{
		Title: schema.Value(e.Title), UpdatedAt: schema.Value(e.At.UTC().Format(time.RFC3339)),
	}
}

// planRunes bounds a line of the plan.
const planRunes = 500

// planUpdate shows the whole plan. The model writes its lines, so characters that cannot be
// seen are made visible.
func planUpdate(e transcript.PlanChanged) schema.SessionUpdate {
	plan := schema.Plan{}
	for _, entry := range e.Entries {
		plan.Entries = append(plan.Entries, schema.PlanEntry{
			Content: kinds.Line(entry.Content, planRunes), Priority: schema.PlanEntryPriority(entry.Priority), Status: schema.PlanEntryStatus(entry.Status),
		})
	}
	return plan
}

func modeUpdate(id string) schema.SessionUpdate {
	return schema.CurrentModeUpdate{CurrentModeID: schema.SessionModeId(id)}
}

func optionsUpdate(options []schema.SessionConfigOption) schema.SessionUpdate {
	return schema.ConfigOptionUpdate{ConfigOptions: options}
}

func noticeUpdate(e transcript.Notice) schema.SessionUpdate {
	return schema.Notice{Severity: schema.NoticeSeverity(e.Severity), Title: e.Title, Description: e.Text}
}

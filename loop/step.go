package loop

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"acp-agent/compaction"
	"acp-agent/model"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// step is one model call while its answer streams in, and what it had in the end.
type step struct {
	loop   *Loop
	id     string // of the assistant message
	finish model.FinishReason
	origin string
	usage  *transcript.Usage
	calls  []*streamedCall

	part     string // the id of the open text or reasoning part; "" when none is open
	partKind transcript.PartKind
	said     bool // text was shown
}

// streamedCall is a tool call whose arguments arrive in pieces.
type streamedCall struct {
	id, name string
	index    int
	input    strings.Builder
}

// stream makes one attempt at a step. When it succeeds, the message in the log is complete; when it
// fails, it has closed every part and call that it opened.
func (l *Loop) stream(ctx context.Context) (s *step, err error) {
	ctx, span := l.Tracer.Chat(ctx, l.Model)
	s = &step{loop: l, id: l.IDs.New(transcript.MessagePrefix)}
	defer func() {
		if u := s.usage; u != nil {
			span.Tokens(u.Input+u.CacheRead+u.CacheWrite, u.Output+u.Reasoning)
		}
		span.Finish(string(s.finish))
		span.End(err)
	}()
	request := &model.Request{
		Model: l.Model, System: l.System, Messages: l.Log.Messages(), Tools: l.Tools.Catalog(),
		ThoughtLevel: l.ThoughtLevel, Temperature: l.Temperature, MaxTokens: l.MaxTokens,
		CacheKey: l.CacheKey, Memo: l.Memo,
	}
	l.meter.Fixed = compaction.Fixed(request.System, request.Tools)
	l.emit(transcript.StepStarted{MessageID: s.id, Model: l.Model, Digest: l.digest, At: time.Now()})
	waiting := l.await(s.id)
	defer waiting.stop()
	request.Patience = waiting.patience
	for chunk, err := range l.Provider.Stream(ctx, request) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			waiting.stop()
			s.abandon(ctx)
			return s, err
		}
		waiting.received(func() { s.receive(chunk) })
	}
	waiting.stop()
	if err := ctx.Err(); err != nil {
		s.abandon(ctx)
		return s, err
	}
	s.endPart()
	l.emit(transcript.StepFinished{MessageID: s.id, Usage: s.usage, Origin: s.origin})
	l.reportUsage(s)
	return s, nil
}

func (s *step) receive(chunk model.Chunk) {
	if chunk.Origin != "" {
		s.origin = chunk.Origin
	}
	switch chunk.Kind {
	case model.Text:
		s.said = s.said || strings.TrimSpace(chunk.Text) != ""
		s.grow(transcript.TextKind, chunk.Text)
	case model.Reasoning:
		s.grow(transcript.ReasoningKind, chunk.Text)
		s.replay(chunk.Replay)
	case model.ToolCall:
		s.receiveCall(chunk)
	case model.Usage:
		s.usage = chunk.Usage
	case model.Finish:
		s.finish = chunk.Reason
	case model.Warning:
		s.loop.emit(transcript.Notice{Severity: transcript.Warning, Title: chunk.Title, Text: chunk.Text})
	}
}

func (s *step) grow(kind transcript.PartKind, text string) {
	if text == "" {
		return
	}
	s.open(kind)
	s.loop.emit(transcript.PartDelta{PartID: s.part, Text: text})
}

// open opens a part of a kind, unless such a part is open.
func (s *step) open(kind transcript.PartKind) {
	if s.part == "" || s.partKind != kind {
		s.endPart()
		s.part, s.partKind = s.loop.IDs.New(transcript.PartPrefix), kind
		s.loop.emit(transcript.PartStarted{MessageID: s.id, PartID: s.part, Kind: kind})
	}
}

// replay ends a block of reasoning with the data that its server wants back.
func (s *step) replay(data json.RawMessage) {
	if data == nil {
		return
	}
	s.open(transcript.ReasoningKind)
	s.loop.emit(transcript.PartReplay{PartID: s.part, Data: data})
	s.endPart()
}

func (s *step) endPart() {
	if s.part != "" {
		s.loop.emit(transcript.PartEnded{PartID: s.part})
		s.part = ""
	}
}

func (s *step) receiveCall(chunk model.Chunk) {
	call := s.call(chunk.Index)
	if call == nil {
		s.endPart()
		call = &streamedCall{id: s.loop.IDs.New(transcript.CallPrefix), name: chunk.Name, index: chunk.Index}
		s.calls = append(s.calls, call)
		tool, card := s.loop.Tools.Label(call.name)
		s.loop.emit(transcript.ToolStarted{MessageID: s.id, CallID: call.id, Name: call.name, Tool: tool, Card: card})
	}
	if chunk.Arguments != "" {
		call.input.WriteString(chunk.Arguments)
		s.loop.emit(transcript.ToolInput{CallID: call.id, Delta: chunk.Arguments})
	}
	if chunk.Replay != nil {
		s.loop.emit(transcript.ToolReplay{CallID: call.id, Data: chunk.Replay})
	}
}

func (s *step) call(index int) *streamedCall {
	for i := len(s.calls) - 1; i >= 0; i-- {
		if s.calls[i].index == index {
			return s.calls[i]
		}
	}
	return nil
}

// abandon closes what a failed attempt had opened. A call whose arguments were cut off never runs. An
// attempt that showed no text is dropped from the conversation.
func (s *step) abandon(ctx context.Context) {
	s.endPart()
	state, text := transcript.Failed, "the model's answer was cut off before this call was complete; it was not run"
	if ctx.Err() != nil {
		state, text = transcript.Cancelled, pipeline.CancelledText
	}
	for _, call := range s.calls {
		_, card := s.loop.Tools.Label(call.name)
		s.loop.emit(pipeline.Unrun(call.id, card, state, text))
	}
	s.loop.emit(transcript.StepFinished{MessageID: s.id, Usage: s.usage, Origin: s.origin})
	if !s.said && ctx.Err() == nil {
		s.loop.emit(transcript.StepDropped{MessageID: s.id})
	}
}

func (s *step) stopReason() StopReason {
	switch s.finish {
	case model.Length:
		return MaxTokens
	case model.Refusal:
		return Refusal
	default:
		return EndTurn
	}
}

// empty reports whether an answer has neither text nor calls, and no reason for that.
func (s *step) empty() bool {
	return !s.said && len(s.calls) == 0 && s.finish != model.Refusal && s.finish != model.Length
}

// reportUsage emits how full the window is, estimated when the server does not report it.
func (l *Loop) reportUsage(s *step) {
	used := 0
	if s.usage != nil {
		used = s.usage.Total()
	}
	if used == 0 {
		used = l.meter.Estimate(l.Log.Messages())
	}
	l.used = used
	l.emit(transcript.UsageChanged{Used: used, Size: l.Window()})
}

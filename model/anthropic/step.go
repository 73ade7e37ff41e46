package anthropic

import (
	"encoding/json"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// step turns the events of one answer into chunks.
type step struct {
	yield  func(model.Chunk) bool
	origin string

	open     map[int]*opened
	order    []int // of the open blocks
	ids      wire.CallIDs
	calls    int
	usage    usage
	stop     string
	why      string // of a refusal
	model    string
	ended    bool // message_stop came
	started  bool // something was emitted
	received int  // pieces of the answer
	size     int  // bytes of arguments
}

// opened is a block that has started.
type opened struct {
	block
	thinking strings.Builder
	call     int // the index of a call
	id       string
	written  bool // arguments came
}

func (s *step) emit(c model.Chunk) error {
	s.started = true
	if !s.yield(c) {
		return wire.ErrStopped
	}
	return nil
}

// text emits a piece of text or thinking, if it is one.
func (s *step) text(kind model.ChunkKind, text string) error {
	if text == "" {
		return nil
	}
	s.received++
	return s.emit(model.Chunk{Kind: kind, Text: text})
}

// add takes one event.
func (s *step) add(e *event) error {
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			s.model = e.Message.Model
			s.usage.add(e.Message.Usage)
		}
	case "content_block_start":
		if e.Block != nil {
			return s.start(e.Index, e.Block)
		}
	case "content_block_delta":
		if b := s.open[e.Index]; b != nil && e.Delta != nil {
			return s.delta(b, e.Delta)
		}
	case "content_block_stop":
		return s.close(e.Index)
	case "message_delta":
		s.usage.add(e.Usage)
		if d := e.Delta; d != nil && d.StopReason != "" {
			s.stop = d.StopReason
			if d.StopDetails != nil {
				s.why = d.StopDetails.Explanation
			}
		}
	case "message_stop":
		s.ended = true
	}
	return nil
}

// start opens a block. Where a server uses an index again, the block before it has ended.
func (s *step) start(index int, b *block) error {
	if err := s.close(index); err != nil {
		return err
	}
	switch b.Type {
	case "text", "thinking", "redacted_thinking", "tool_use":
	default:
		return nil
	}
	o := &opened{block: *b}
	if s.open == nil {
		s.open = map[int]*opened{}
	}
	s.open[index] = o
	s.order = append(s.order, index)
	switch b.Type {
	case "text":
		return s.text(model.Text, b.Text)
	case "thinking":
		o.thinking.WriteString(b.Thinking)
		return s.text(model.Reasoning, b.Thinking)
	case "tool_use":
		if s.calls == wire.MaxCalls {
			return wire.ErrTooManyCalls
		}
		o.id, o.call = s.ids.Unique(b.ID), s.calls
		s.calls++
		s.received++
		return s.emit(model.Chunk{Kind: model.ToolCall, Index: o.call, ID: o.id, Name: b.Name})
	}
	return nil
}

func (s *step) delta(b *opened, d *delta) error {
	switch {
	case d.Type == "text_delta" && b.Type == "text":
		return s.text(model.Text, d.Text)
	case d.Type == "thinking_delta" && b.Type == "thinking":
		b.thinking.WriteString(d.Thinking)
		return s.text(model.Reasoning, d.Thinking)
	case d.Type == "signature_delta" && b.Type == "thinking":
		b.Signature += d.Signature
		s.received++
	case d.Type == "input_json_delta" && b.Type == "tool_use" && d.PartialJSON != "":
		b.written = true
		s.received++
		return s.arguments(b, d.PartialJSON)
	}
	return nil
}

func (s *step) arguments(b *opened, text string) error {
	if s.size += len(text); s.size > wire.MaxArguments {
		return wire.ErrLongArguments
	}
	return s.emit(model.Chunk{Kind: model.ToolCall, Index: b.call, ID: b.id, Arguments: text})
}

// close ends a block. A block of thinking is handed on whole, to be sent back as it came; a
// call without pieces of arguments has the arguments that it began with, which is {} for a call
// without any.
func (s *step) close(index int) error {
	b := s.open[index]
	if b == nil {
		return nil
	}
	delete(s.open, index)
	switch b.Type {
	case "thinking":
		s.received++
		return s.emit(model.Chunk{Kind: model.Reasoning, Replay: thinkingBlock(b.thinking.String(), b.Signature), Origin: s.origin})
	case "redacted_thinking":
		s.received++
		replay := append(wire.AppendString([]byte(`{"type":"redacted_thinking","data":`), b.Data), '}')
		return s.emit(model.Chunk{Kind: model.Reasoning, Replay: replay, Origin: s.origin})
	case "tool_use":
		if input := string(b.Input); !b.written && json.Valid(b.Input) && input != "null" {
			return s.arguments(b, input)
		}
	}
	return nil
}

// thinkingBlock is a block of thinking as it is sent back.
func thinkingBlock(text, signature string) json.RawMessage {
	b := wire.AppendString([]byte(`{"type":"thinking","thinking":`), text)
	b = append(b, `,"signature":`...)
	return append(wire.AppendString(b, signature), '}')
}

// end closes what is open, says what the user should know of the end, and emits the usage
// and the finish.
func (s *step) end() error {
	for _, index := range s.order {
		if err := s.close(index); err != nil {
			return err
		}
	}
	if title, text := s.warning(); title != "" {
		if err := s.emit(model.Chunk{Kind: model.Warning, Title: title, Text: text}); err != nil {
			return err
		}
	}
	if counted := s.usage.count(); counted != nil {
		if err := s.emit(model.Chunk{Kind: model.Usage, Usage: counted}); err != nil {
			return err
		}
	}
	return s.emit(model.Chunk{Kind: model.Finish, Reason: s.reason(), Model: s.model, Origin: s.origin})
}

// reason maps the stop reason (platform.claude.com/docs/en/build-with-claude/handling-stop-reasons).
// What the step did counts for more where the two do not fit.
func (s *step) reason() model.FinishReason {
	switch {
	case s.stop == "max_tokens", wire.WindowFull(s.stop):
		return model.Length
	case s.stop == "refusal":
		return model.Refusal
	}
	if s.calls > 0 {
		return model.ToolCalls
	}
	return model.Stop
}

// warning is the warning for the user about an end that the model did not choose.
func (s *step) warning() (title, text string) {
	switch {
	case wire.WindowFull(s.stop):
		full := wire.FullWarning()
		return full.Title, full.Text
	case s.stop == "refusal" && s.why != "":
		return "The model refused", wire.OneLine(s.why)
	case s.stop == "pause_turn":
		return "The server paused the answer", "It ended before the model was done. Ask it to go on."
	}
	return "", ""
}

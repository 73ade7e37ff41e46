package openai

import (
	"encoding/json"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// step turns the events of one answer into chunks.
type step struct {
	yield func(model.Chunk) bool
	tags  tagSplitter
	// origin begins the origin of the answer. in, which ends it, is the field of its reasoning:
	// the first in which some came, or details or tags wherever there are any.
	origin string
	in     field
	// whole is origin and the field wholeOf in one text, made once for all chunks.
	whole   string
	wholeOf field
	// mirrored says that reasoning in tags came in a field too.
	mirrored bool

	calls   calls
	details details
	extra   json.RawMessage // of the message
	usage   *usage
	finish  string
	model   string
	refused bool // the server sent a refusal
	started bool // something was emitted
	emitted int  // chunks
}

func (s *step) emit(c model.Chunk) error {
	s.started = true
	s.emitted++
	if c.Kind == model.Reasoning || c.Kind == model.Finish || c.Replay != nil {
		if s.whole == "" || s.wholeOf != s.in {
			s.whole, s.wholeOf = s.origin+s.in.origin(), s.in
		}
		c.Origin = s.whole
	}
	if !s.yield(c) {
		return wire.ErrStopped
	}
	return nil
}

// received grows with each piece of the answer, also when a server only counts more tokens.
func (s *step) received() int {
	n := s.emitted + s.calls.received + s.details.received
	if s.usage != nil {
		n += s.usage.Completion
	}
	return n
}

// emitText emits a piece of text or reasoning, unless it is empty.
func (s *step) emitText(kind model.ChunkKind, text string) error {
	if text == "" {
		return nil
	}
	return s.emit(model.Chunk{Kind: kind, Text: text})
}

// add takes one event.
func (s *step) add(c *chunk) error {
	if c.Model != "" {
		s.model = c.Model
	}
	s.count(c.Usage)
	if c.Groq != nil {
		s.count(c.Groq.Usage)
	}
	for i := range c.Choices {
		choice := &c.Choices[i]
		if choice.Index != 0 {
			continue // only one answer was asked for
		}
		s.count(choice.Usage)
		d := &choice.Delta
		// Some servers repeat the whole message after its deltas.
		if choice.Message != nil && d.empty() && !s.started {
			d = choice.Message
		}
		if err := s.delta(d); err != nil {
			return err
		}
		if choice.FinishReason != "" {
			s.finish = string(choice.FinishReason)
		}
	}
	return nil
}

func (s *step) count(u *usage) {
	if !u.empty() {
		s.usage = u
	}
}

func (s *step) delta(d *delta) error {
	if err := s.thought(d); err != nil {
		return err
	}
	if err := s.content(d.Content.text); err != nil {
		return err
	}
	if extra := signed(d.Extra); extra != nil {
		s.extra = extra
	}
	if d.Refusal.text != "" {
		s.refused = true
		if err := s.emitText(model.Text, d.Refusal.text); err != nil {
			return err
		}
	}
	for i := range d.ToolCalls {
		if err := s.calls.add(&d.ToolCalls[i], s.emit); err != nil {
			return err
		}
	}
	if d.FunctionCall != nil {
		legacy := -1
		return s.calls.add(&toolCall{Index: &legacy, Function: *d.FunctionCall}, s.emit)
	}
	return nil
}

// thought takes the reasoning of a delta.
func (s *step) thought(d *delta) error {
	text, in := d.reasoning()
	if present(d.Details) != nil {
		shown, err := s.details.add(d.Details)
		if err != nil {
			return err
		}
		if s.in = inDetails; text == "" {
			text = shown
		}
	}
	if text != "" && s.in == 0 {
		s.in = in
	}
	return s.emitText(model.Reasoning, text)
}

// content takes a piece of the text, in which reasoning may stand in tags.
func (s *step) content(piece string) error {
	reasoning, text := s.tags.split(piece)
	return s.emitSplit(reasoning, text)
}

// emitSplit emits what was split. MiniMax sends the same reasoning in a field besides; it is
// shown once, and goes back in tags, as the model wrote it (vellum-ai/vellum-assistant
// 34556, and the model's card).
func (s *step) emitSplit(reasoning, text string) error {
	if s.tags.found() && s.in != inTags {
		s.mirrored, s.in = s.in&textFields != 0, inTags
	}
	if s.mirrored {
		reasoning = ""
	}
	c := model.Chunk{Kind: model.Reasoning, Text: reasoning}
	if tags := s.tags.around(); tags != nil {
		c.Replay = replay{Tags: tags}.json()
	}
	if c.Text != "" || c.Replay != nil {
		if err := s.emit(c); err != nil {
			return err
		}
	}
	return s.emitText(model.Text, text)
}

// emitReplay emits what the server wants back of the message as a whole.
func (s *step) emitReplay() error {
	r := replay{Details: s.details.json(), Extra: s.extra}
	if r.Details == nil && r.Extra == nil {
		return nil
	}
	return s.emit(model.Chunk{Kind: model.Reasoning, Replay: r.json()})
}

// end emits what was held back, the usage and the finish.
func (s *step) end() error {
	reasoning, text := s.tags.rest()
	if err := s.emitSplit(reasoning, text); err != nil {
		return err
	}
	if err := s.calls.flush(s.emit); err != nil {
		return err
	}
	if err := s.emitReplay(); err != nil {
		return err
	}
	if wire.WindowFull(s.finish) {
		if err := s.emit(wire.FullWarning()); err != nil {
			return err
		}
	}
	if s.usage != nil {
		if err := s.emit(model.Chunk{Kind: model.Usage, Usage: s.usage.count()}); err != nil {
			return err
		}
	}
	return s.emit(model.Chunk{Kind: model.Finish, Reason: s.reason(), Model: s.model})
}

// reason maps what the server said; what it did counts for more: a step with
// calls ends in them even if the server says "stop".
func (s *step) reason() model.FinishReason {
	switch strings.ToLower(s.finish) {
	case "length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded":
		return model.Length
	case "content_filter", "refusal", "safety", "recitation", "prohibited_content":
		return model.Refusal
	}
	switch {
	case s.refused && len(s.calls.list) == 0:
		return model.Refusal
	case len(s.calls.list) > 0:
		return model.ToolCalls
	}
	return model.Stop
}

// broken reports whether the server says by its finish reason that the answer
// was broken off on its side.
func (s *step) broken() bool {
	switch strings.ToLower(s.finish) {
	case "error", "abort", "insufficient_system_resource":
		return true
	}
	return false
}

// isError reports whether an event is an error, and returns the part of it that
// says which.
func isError(kind string, data []byte, c *chunk) (json.RawMessage, bool) {
	null := func(m json.RawMessage) bool { return len(m) == 0 || string(m) == "null" || string(m) == `""` }
	switch {
	case !null(c.Error):
		return data, true
	case c.Groq != nil && !null(c.Groq.Error):
		return c.Groq.Error, true
	case kind == "error" && len(c.Choices) == 0, c.Object == "error":
		return data, true
	}
	return nil, false
}

package responses

import (
	"errors"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// maxKept bounds what is kept of one answer to be sent back, in bytes.
const maxKept = 8 << 20

var errLongItems = errors.New("its reasoning is larger than 8 MiB")

// itemAdded is the type of the event that opens an item.
const itemAdded = "response.output_item.added"

// step turns the events of one answer into chunks.
type step struct {
	yield  func(model.Chunk) bool
	origin string

	items   []*opened
	ids     wire.CallIDs
	calls   int
	final   *response
	said    bool // a text was emitted
	refused bool // the server sent a refusal

	started  bool // something was emitted
	received int  // pieces of the answer
	size     int  // bytes of arguments
	kept     int  // bytes to be sent back
}

func (s *step) emit(c model.Chunk) error {
	s.started = true
	s.received++
	if c.Kind == model.Reasoning || c.Kind == model.Finish || c.Replay != nil {
		c.Origin = s.origin
	}
	if !s.yield(c) {
		return wire.ErrStopped
	}
	return nil
}

// add takes one event.
func (s *step) add(e *event) error {
	switch e.Type {
	case itemAdded:
		return s.merge(s.open(e), e.Item)
	case "response.output_item.done":
		return s.end(s.open(e), e.Item)
	case "response.output_text.delta":
		return s.text(s.open(e), e.Delta)
	case "response.refusal.delta":
		s.refused = true
		return s.text(s.open(e), e.Delta)
	case "response.reasoning_summary_text.delta":
		return s.thought(s.open(e), e.Delta, e.SummaryIndex, false)
	case "response.reasoning_text.delta":
		return s.thought(s.open(e), e.Delta, e.ContentIndex, true)
	case "response.function_call_arguments.delta":
		return s.arguments(s.open(e), e.Delta)
	case "response.function_call_arguments.done":
		if o := s.open(e); !o.written {
			return s.arguments(o, e.Arguments)
		}
	case "response.completed", "response.incomplete":
		return s.complete(e.Response)
	}
	return nil
}

// complete takes the answer as a whole. Its items count where none came by themselves.
func (s *step) complete(r *response) error {
	if r == nil {
		r = &response{}
	}
	s.final = r
	if len(s.items) > 0 {
		return nil
	}
	for i, raw := range r.Output {
		if err := s.end(s.open(&event{Index: &i}), raw); err != nil {
			return err
		}
	}
	return nil
}

// finish ends what is open, and emits the usage and the finish.
func (s *step) finish() error {
	for _, o := range s.items {
		if o.callID == "" && (o.Type == callItem || o.held.Len() > 0) {
			if err := s.announce(o); err != nil { // it never got a name; the pipeline reports it
				return err
			}
		}
	}
	if counted := s.final.Usage.count(); counted != nil {
		if err := s.emit(model.Chunk{Kind: model.Usage, Usage: counted}); err != nil {
			return err
		}
	}
	return s.emit(model.Chunk{Kind: model.Finish, Reason: s.reason(), Model: s.final.Model})
}

// reason maps why the answer ended. What the step did counts for more where nothing is said.
func (s *step) reason() model.FinishReason {
	if s.final.Incomplete != nil {
		switch s.final.Incomplete.Reason {
		case "max_output_tokens", "max_tokens":
			return model.Length
		case "content_filter":
			return model.Refusal
		}
	}
	switch {
	case s.calls > 0:
		return model.ToolCalls
	case s.refused:
		return model.Refusal
	}
	return model.Stop
}

// thinks reports whether the model may be silent because it thinks: no item is open that
// brings something as long as it is.
func (s *step) thinks() bool {
	for i := len(s.items) - 1; i >= 0; i-- {
		if o := s.items[i]; !o.done {
			return o.Type == reasoningItem
		}
	}
	return true
}

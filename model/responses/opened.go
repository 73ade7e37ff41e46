package responses

import (
	"bytes"
	"encoding/json"
	"strings"

	"acp-agent/model"
	"acp-agent/model/wire"
)

// apart separates two texts or thoughts that are items or parts of their own.
const apart = "\n\n"

// opened is an item of the answer that has started.
type opened struct {
	item
	index int  // as the server numbers it; -1 when it does not
	shown bool // some of its text was emitted
	part  int  // of the summary or the content that is being written
	raw   bool // thoughts come as they are and not as a summary
	done  bool

	call    int    // the index of a call
	callID  string // as announced; empty before
	held    strings.Builder
	written bool // arguments came
}

// maxItems bounds the items of one answer.
const maxItems = 4 * wire.MaxCalls

// open returns the item that an event is about, a new one if there is none yet. Servers
// number their items; GitHub Copilot gives an item another id in each event
// (github.com/BerriAI/litellm/pull/30072).
func (s *step) open(e *event) *opened {
	id := e.ItemID
	if id == "" {
		id = idOf(e.Item)
	}
	for i := len(s.items) - 1; i >= 0 && e.Type != itemAdded; i-- {
		o := s.items[i]
		if e.Index != nil && o.index == *e.Index || e.Index == nil && (id != "" && o.ID == id || id == "" && !o.done) {
			return o
		}
	}
	o := &opened{index: -1}
	if e.Index != nil {
		o.index = *e.Index
	}
	o.ID = id
	s.items = append(s.items, o)
	return o
}

func idOf(raw json.RawMessage) string {
	var named struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &named)
	return named.ID
}

// merge adds to an item what an event says of it, when the item starts or ends.
func (s *step) merge(o *opened, raw json.RawMessage) error {
	if len(s.items) > maxItems {
		return wire.ErrTooManyCalls
	}
	if len(raw) == 0 {
		return nil
	}
	before := o.ID
	if err := json.Unmarshal(raw, &o.item); loosely(err) != nil {
		return err
	}
	if o.ID == "" {
		o.ID = before
	}
	if o.Type == callItem && o.Name != "" {
		return s.announce(o)
	}
	return nil
}

// announce emits the head of a call, and the arguments that came before its name.
func (s *step) announce(o *opened) error {
	if o.callID != "" {
		return nil
	}
	if s.calls == wire.MaxCalls {
		return wire.ErrTooManyCalls
	}
	o.callID, o.call = s.ids.Unique(o.CallID), s.calls
	s.calls++
	return s.emit(model.Chunk{Kind: model.ToolCall, Index: o.call, ID: o.callID, Name: o.Name, Arguments: o.held.String()})
}

// text emits a piece of what the model says.
func (s *step) text(o *opened, text string) error {
	if text == "" {
		return nil
	}
	if !o.shown && s.said {
		text = apart + text
	}
	o.shown, s.said = true, true
	return s.emit(model.Chunk{Kind: model.Text, Text: text})
}

// thought emits a piece of what the model thinks; each part of a summary is a paragraph. Of
// an item that has both a summary and the thoughts themselves, what comes first is shown.
func (s *step) thought(o *opened, text string, number int, raw bool) error {
	if text == "" || o.shown && o.raw != raw {
		return nil
	}
	if o.shown && number != o.part {
		text = apart + text
	}
	o.shown, o.raw, o.part = true, raw, number
	return s.emit(model.Chunk{Kind: model.Reasoning, Text: text})
}

// arguments takes a piece of those of a call.
func (s *step) arguments(o *opened, text string) error {
	if text == "" {
		return nil
	}
	o.written = true
	if s.size += len(text); s.size > wire.MaxArguments {
		return wire.ErrLongArguments
	}
	if o.callID == "" {
		o.held.WriteString(text)
		s.received++
		return nil
	}
	return s.emit(model.Chunk{Kind: model.ToolCall, Index: o.call, ID: o.callID, Arguments: text})
}

// end takes the item of an event that closes one: what of it did not come in pieces, and
// what of it the server wants back.
func (s *step) end(o *opened, raw json.RawMessage) error {
	if o.done {
		return nil
	}
	o.done = true
	if err := s.merge(o, raw); err != nil {
		return err
	}
	switch o.Type {
	case messageItem:
		return s.endMessage(o)
	case callItem:
		return s.endCall(o)
	case reasoningItem:
		return s.endReasoning(o, raw)
	case "":
		return nil
	}
	return s.replay(raw) // of a tool of the server's own: it goes back with the rest
}

func (s *step) endMessage(o *opened) error {
	if !o.shown {
		for _, p := range o.Content {
			s.refused = s.refused || p.Refusal != ""
			if err := s.text(o, p.Text+p.Refusal); err != nil {
				return err
			}
		}
	}
	if !o.shown {
		return nil
	}
	return s.emit(model.Chunk{Kind: model.Reasoning, Replay: mark{Type: messageItem, ID: o.ID, Phase: o.Phase}.json()})
}

func (s *step) endCall(o *opened) error {
	if !o.written {
		if err := s.arguments(o, o.Arguments); err != nil {
			return err
		}
	}
	if err := s.announce(o); err != nil {
		return err
	}
	return s.emit(model.Chunk{Kind: model.ToolCall, Index: o.call, ID: o.callID, Replay: mark{Type: callItem, ID: o.ID, CallID: o.callID}.json()})
}

func (s *step) endReasoning(o *opened, raw json.RawMessage) error {
	if !o.shown {
		for i, p := range o.Summary {
			if err := s.thought(o, p.Text, i, false); err != nil {
				return err
			}
		}
		for i, p := range o.Content {
			if err := s.thought(o, p.Text, i, true); err != nil {
				return err
			}
		}
	}
	// "Unknown parameter: 'input[1].status'" (github.com/BerriAI/litellm/issues/13420).
	return s.replay(without(raw, "status"))
}

// replay emits an item that goes back as it came.
func (s *step) replay(raw json.RawMessage) error {
	if s.kept += len(raw); s.kept > maxKept {
		return errLongItems
	}
	var compact bytes.Buffer // so that it is the same when it was stored
	if json.Compact(&compact, raw) != nil {
		return nil
	}
	return s.emit(model.Chunk{Kind: model.Reasoning, Replay: compact.Bytes()})
}

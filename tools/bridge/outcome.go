package bridge

import (
	"encoding/json"
	"fmt"
	"slices"

	"acp-agent/transcript"
)

// Outcome is what a foreign record says in our words (R6).
type Outcome struct {
	// State is where the call stands. Records of the Amplifier family know only
	// done and error.
	State transcript.State
	// Envelope is the result; nil while State is not terminal.
	Envelope *transcript.Envelope
	// Form is how the record was spelled; the zero value is our own spelling.
	Form Form
}

// Form remembers of a foreign record what the envelope has no place for and
// no one needs to act on. It is data, and may be stored beside the envelope.
type Form struct {
	// Keys and ErrorKeys are the keys of the record and of its error in their
	// order; nil means that the object was missing.
	Keys      []string `json:"keys,omitzero"`
	ErrorKeys []string `json:"error_keys,omitzero"`
	// Extra are the values of keys that mean nothing to us.
	Extra map[string]json.RawMessage `json:"extra,omitempty"`
}

func (f *Form) keep(name string, raw json.RawMessage) {
	if f.Extra == nil {
		f.Extra = map[string]json.RawMessage{}
	}
	f.Extra[name] = raw
}

// Ended makes the Outcome of an envelope. A state that does not fit the
// envelope is replaced by the one that does.
func Ended(state transcript.State, envelope transcript.Envelope) Outcome {
	o := Outcome{State: state, Envelope: &envelope}
	o.State = o.state()
	return o
}

// state is State, or what the envelope says where the two do not agree.
func (o Outcome) state() transcript.State {
	switch {
	case o.Envelope == nil:
		return o.State
	case o.Envelope.Type == transcript.Output:
		return transcript.Done
	case o.State == transcript.Cancelled || o.State == transcript.Rejected:
		return o.State
	}
	return transcript.Failed
}

// envelope is Envelope, or the empty one of a terminal state.
func (o Outcome) envelope() (transcript.Envelope, error) {
	switch {
	case o.Envelope != nil:
		if t := o.Envelope.Type; t != transcript.Output && t != transcript.Error {
			return transcript.Envelope{}, fmt.Errorf("envelope has type %q", t)
		}
		return *o.Envelope, nil
	case !slices.Contains(transcript.States(), o.State):
		return transcript.Envelope{}, fmt.Errorf("state %q is none of a tool call", o.State)
	case o.State == transcript.Done:
		return transcript.Envelope{Type: transcript.Output}, nil
	}
	return transcript.Envelope{Type: transcript.Error}, nil
}

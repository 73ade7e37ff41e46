package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Step is one answer to a request for a chat completion. The zero value is an
// empty answer that ends well.
type Step struct {
	// When is a text that the request's body must hold; empty fits all.
	When string `json:"when"`
	// Repeat is how often the step is used; 0 and 1 mean once, -1 for ever.
	Repeat int `json:"repeat"`

	// Text is streamed in so many pieces; 0 means one. Pieces larger than the
	// text repeat it: Text "x" in 2000 pieces is 2000 deltas of "x".
	Text   string `json:"text"`
	Pieces int    `json:"pieces"`
	// Pace is the pause between events in milliseconds.
	Pace int `json:"pace"`
	// Reasoning is streamed before the text, in ReasoningField, which is
	// reasoning_content when empty.
	Reasoning      string `json:"reasoning"`
	ReasoningField string `json:"reasoning_field"`
	Calls          []Call `json:"calls"`
	// Usage is sent as it is, in an event before the last.
	Usage json.RawMessage `json:"usage"`
	// Finish is the finish reason; empty means the fitting one, "none" none.
	Finish string `json:"finish"`

	// Raw are lines sent in place of all events above, each with a newline
	// after it; [DONE] is not added.
	Raw []string `json:"raw"`
	// Whole sends the answer as one JSON object that is not streamed.
	Whole bool `json:"whole"`

	// Status other than 0 or 200 is sent with Header and Body alone.
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	// Body replaces the events as it is.
	Body string `json:"body"`

	// Cut breaks the connection after so many events. Stall keeps silent then,
	// until the client goes away. 0 means never; -1 before the first.
	Cut   int `json:"cut"`
	Stall int `json:"stall"`
	// NoDone leaves [DONE] out.
	NoDone bool `json:"no_done"`
}

// Call is a tool call of a step.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// ID is call_1 and so on when it is empty; NoID leaves it out.
	ID   string `json:"id"`
	NoID bool   `json:"no_id"`
	// Pieces is how many deltas carry the arguments; 0 means one, in the event
	// of the name.
	Pieces int `json:"pieces"`
	// NoIndex leaves the index out.
	NoIndex bool `json:"no_index"`
}

// Read reads steps from JSON Lines. Unknown members are refused; empty lines
// and lines that begin with # are skipped.
func Read(r io.Reader) ([]Step, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var steps []Step
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		var step Step
		if err := dec.Decode(&step); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if _, err := dec.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: more than one step", number)
		}
		steps = append(steps, step)
	}
	return steps, nil
}

func (s *Step) pause() time.Duration { return time.Duration(s.Pace) * time.Millisecond }

// delta is one event's delta.
type delta map[string]any

// deltas are the events of the step before its end.
func (s *Step) deltas() []delta {
	deltas := []delta{{"role": "assistant", "content": ""}}
	field := s.ReasoningField
	if field == "" {
		field = "reasoning_content"
	}
	if s.Reasoning != "" {
		deltas = append(deltas, delta{field: s.Reasoning})
	}
	for _, piece := range split(s.Text, s.Pieces) {
		deltas = append(deltas, delta{"content": piece})
	}
	for i, call := range s.Calls {
		deltas = append(deltas, call.deltas(i)...)
	}
	return deltas
}

func (c *Call) deltas(i int) []delta {
	wrap := func(member map[string]any) delta {
		if !c.NoIndex {
			member["index"] = i
		}
		return delta{"tool_calls": []any{member}}
	}
	first := map[string]any{"type": "function"}
	if !c.NoID {
		first["id"] = c.id(i)
	}
	if c.Pieces == 0 {
		first["function"] = map[string]any{"name": c.Name, "arguments": c.Arguments}
		return []delta{wrap(first)}
	}
	first["function"] = map[string]any{"name": c.Name, "arguments": ""}
	deltas := []delta{wrap(first)}
	for _, piece := range split(c.Arguments, c.Pieces) {
		deltas = append(deltas, wrap(map[string]any{"function": map[string]any{"arguments": piece}}))
	}
	return deltas
}

func (c *Call) id(i int) string {
	if c.ID == "" {
		return fmt.Sprintf("call_%d", i+1)
	}
	return c.ID
}

// finish is the step's finish reason, nil for none.
func (s *Step) finish() any {
	switch {
	case s.Finish == "none":
		return nil
	case s.Finish != "":
		return s.Finish
	case len(s.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// split cuts text into n pieces at runes; text with fewer runes than pieces is
// sent n times.
func split(text string, n int) []string {
	runes := []rune(text)
	switch {
	case text == "":
		return nil
	case n <= 1:
		return []string{text}
	}
	pieces := make([]string, n)
	for i := range pieces {
		if len(runes) < n {
			pieces[i] = text
			continue
		}
		pieces[i] = string(runes[i*len(runes)/n : (i+1)*len(runes)/n])
	}
	return pieces
}

package record

import (
	"context"
	"encoding/json"
	"errors"
)

// Tape stands between the agent and everything outside of it: it passes a question on and records the
// answer, or answers from a recording. A nil Tape only passes it on. It is safe for concurrent use.
type Tape struct {
	recorder *Recorder
	player   *Player
}

// RecordTo returns a Tape that records; of a nil Recorder it is nil.
func RecordTo(r *Recorder) *Tape {
	if r == nil {
		return nil
	}
	return &Tape{recorder: r}
}

// PlayFrom returns a Tape that answers from a recording.
func PlayFrom(p *Player) *Tape { return &Tape{player: p} }

// Plays reports whether answers come from a recording. Then the agent must not act on the outside.
func (t *Tape) Plays() bool { return t != nil && t.player != nil }

// Records reports whether answers are recorded.
func (t *Tape) Records() bool { return t != nil && t.recorder != nil }

// ID returns an id that fresh makes, or in a replay the recorded one.
func (t *Tape) ID(prefix string, fresh func() string) string {
	switch {
	case t == nil:
		return fresh()
	case t.player != nil:
		if id, ok := t.player.id(prefix); ok {
			return id
		}
		return fresh()
	}
	id := fresh()
	t.recorder.add(pending{Entry: Entry{Kind: ID, Name: prefix, Key: id}})
	return id
}

// SkipIDsIn says that the agent uses recorded data again: ID does not return the ids in it.
func (t *Tape) SkipIDsIn(data []byte) {
	if t.Plays() {
		t.player.skipIDsIn(data)
	}
}

// ErrNotRecorded says that the recording has no answer.
var ErrNotRecorded = errors.New("the recording has no answer to this question")

// Ask returns the answer of ask, or in a replay the recorded one, which was encoded as JSON. A replay answers
// the questions with one name and key in their order, and repeats the last answer when there are more.
func Ask[T any](t *Tape, name, key string, ask func() (T, error)) (answer T, err error) {
	switch {
	case t == nil:
		return ask()
	case t.player != nil:
		e, ok := t.player.answer(name, key)
		if !ok {
			return answer, ErrNotRecorded
		}
		if e.Error != "" {
			err = errors.New(e.Error)
		}
		if e.Data != nil {
			err = errors.Join(err, json.Unmarshal(e.Data, &answer))
		}
		return answer, err
	}
	answer, err = ask()
	e := Entry{Kind: Answered, Name: name, Key: key}
	if err != nil {
		e.Error = err.Error()
	}
	if data, broken := encode(answer); broken == nil {
		e.Data = data
	}
	t.recorder.add(pending{Entry: e})
	return answer, err
}

// Value is Ask for what cannot fail.
func Value[T any](t *Tape, name, key string, ask func() T) T {
	answer, _ := Ask(t, name, key, func() (T, error) { return ask(), nil })
	return answer
}

// Await is Value for what the agent waits for, such as servers that start. What happened before the recorded
// answer came happens before the answer in a replay, too. One goroutine at a time asks under a key.
func Await[T any](t *Tape, name, key string, ask func() T) (answer T) {
	if !t.Records() {
		return Value(t, name, key, ask)
	}
	before := t.recorder.moved()
	answer = ask()
	e := Entry{Kind: Answered, Name: name, Key: key, Waited: t.recorder.moved() != before}
	if data, err := encode(answer); err == nil {
		e.Data = data
		t.recorder.add(pending{Entry: e})
	}
	return answer
}

// Look returns what look sees of something that changes while the agent looks, such as whether a turn was
// cancelled or which subagents run. In a replay it waits until the recording is at that place, and returns
// what was seen then; what follows in the recording waits for it. The caller holds no lock.
func Look[T any](t *Tape, name, key string, look func() T) (seen T) {
	switch {
	case t == nil:
		return look()
	case t.player != nil:
		e, ok := t.player.look(name, key)
		if !ok || json.Unmarshal(e.Data, &seen) != nil {
			return look()
		}
		return seen
	}
	seen = look()
	if data, err := encode(seen); err == nil {
		t.recorder.add(pending{Entry: Entry{Kind: Looked, Name: name, Key: key, Data: data}})
	}
	return seen
}

// Reach is Look at nothing: it keeps the order in which the agent comes to a point of its work and what
// happens at the same time.
func (t *Tape) Reach(name, key string) {
	Look(t, name, key, func() bool { return true })
}

// Happened records an event from outside that answers no question, in a session.
func (t *Tape) Happened(session, name string, data []byte) {
	if t.Records() {
		t.recorder.add(pending{Entry: Entry{Kind: Happened, Key: session, Name: name, Data: data}})
	}
}

// OnHappened sets the function that a replay calls with each recorded event of a session, at the place of
// the event in the recording.
func (t *Tape) OnHappened(session string, play func(name string, data []byte)) {
	if t.Plays() {
		t.player.listen(session, play)
	}
}

// Call is the record of something that reaches outside, such as a tool call, as a list of steps.
type Call struct {
	tape *Tape
	n    int
	ctx  context.Context
}

// Start starts the record of a call; it returns nil when nothing is recorded.
func (t *Tape) Start(name, input string) *Call {
	if !t.Records() {
		return nil
	}
	c := &Call{tape: t, n: t.recorder.number()}
	t.recorder.add(pending{Entry: Entry{Kind: Called, Of: c.n, Name: name}, finish: func(j *joiner, h *held) {
		h.Key = digest([]byte(j.clean(input))) // a replay has the input without keys
	}})
	return c
}

// Step records one step.
func (c *Call) Step(name string, data []byte) {
	if c != nil {
		c.tape.recorder.add(pending{Entry: Entry{Kind: Step, Of: c.n, Name: name, Data: data}})
	}
}

// Return records the end of the call.
func (c *Call) Return() {
	if c != nil {
		c.tape.recorder.add(pending{Entry: Entry{Kind: Returned, Of: c.n}})
	}
}

// Play returns the next recorded call with a name and an input.
func (t *Tape) Play(ctx context.Context, name, input string) (*Call, error) {
	n, err := t.player.call(ctx, name, digest([]byte(input)), input)
	if err != nil {
		return nil, err
	}
	return &Call{tape: t, n: n, ctx: ctx}, nil
}

// Next waits for the place of the next step in the recording, and returns it; ok is false at the end.
func (c *Call) Next() (name string, data []byte, ok bool) {
	e, ok := c.tape.player.next(context.WithoutCancel(c.ctx), c.n)
	if !ok {
		return "", nil, false
	}
	return e.Name, e.Data, true
}

// SkipAnswers says that a recorded call does not run again and asks nothing under these keys: the next
// question has the next answer that came after the call.
func (c *Call) SkipAnswers(keys ...string) { c.tape.player.skipAnswers(c.n, keys) }

// SkipIDs says that a recorded call does not run again and makes no ids: ID does not return those that were
// made during it.
func (c *Call) SkipIDs() { c.tape.player.skipIDs(c.n) }

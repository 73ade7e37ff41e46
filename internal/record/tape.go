package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
)

// Tape is what the agent asks where the world outside has a say: it asks the world and records
// the answer, or answers from a recording. A nil Tape asks the world alone. It is safe for
// concurrent use.
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

// Plays reports whether answers come from a recording, so that nothing outside may be touched.
func (t *Tape) Plays() bool { return t != nil && t.player != nil }

// Records reports whether answers are recorded.
func (t *Tape) Records() bool { return t != nil && t.recorder != nil }

// ID returns an id that fresh makes, or the recorded one.
func (t *Tape) ID(prefix string, fresh func() string) string {
	switch {
	case t == nil:
		return fresh()
	case t.player != nil:
		if e, ok := t.player.answer(ID, prefix, ""); ok {
			return e.Key
		}
		return fresh()
	}
	id := fresh()
	t.recorder.add(pending{Entry: Entry{Kind: ID, Name: prefix, Key: id}})
	return id
}

// Took says that something recorded happened again, with the ids in it.
func (t *Tape) Took(data []byte) {
	if t.Plays() {
		t.player.take(data)
	}
}

// ErrNotRecorded says that the recording has no answer.
var ErrNotRecorded = errors.New("the recording has no answer to this question")

// Ask returns what ask says, or what it said when it was recorded, as JSON has it. Questions of
// one name and key are answered in their order, and the last answer counts from then on.
func Ask[T any](t *Tape, name, key string, ask func() (T, error)) (answer T, err error) {
	switch {
	case t == nil:
		return ask()
	case t.player != nil:
		e, ok := t.player.answer(Answered, name, key)
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

// Happened records an event that came from outside by itself, in a session.
func (t *Tape) Happened(session, name string, data []byte) {
	if t.Records() {
		t.recorder.add(pending{Entry: Entry{Kind: Happened, Key: session, Name: name, Data: data}})
	}
}

// OnHappened has play called, when a recording is played, with each event of a session where it
// stands in the recording.
func (t *Tape) OnHappened(session string, play func(name string, data []byte)) {
	if t.Plays() {
		t.player.listen(session, play)
	}
}

// Call is something that reaches outside, and the steps that show of it.
type Call struct {
	tape *Tape
	n    int
	ctx  context.Context
}

// Start starts the record of a call; it is nil where nothing is recorded.
func (t *Tape) Start(name, input string) *Call {
	if !t.Records() {
		return nil
	}
	c := &Call{tape: t, n: t.recorder.number()}
	t.recorder.add(pending{Entry: Entry{Kind: Called, Of: c.n, Name: name, Key: digest([]byte(input))}})
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

// Play returns the recorded call with a name and an input.
func (t *Tape) Play(ctx context.Context, name, input string) (*Call, error) {
	n, err := t.player.call(ctx, name, digest([]byte(input)), input)
	if err != nil {
		return nil, err
	}
	return &Call{tape: t, n: n, ctx: ctx}, nil
}

// Next returns the next step where it stands in the recording; ok is false at the end.
func (c *Call) Next() (name string, data []byte, ok bool) {
	e, ok := c.tape.player.next(context.WithoutCancel(c.ctx), c.n)
	if !ok {
		return "", nil, false
	}
	return e.Name, e.Data, true
}

// digest is a short name of a text.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

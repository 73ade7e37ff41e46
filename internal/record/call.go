package record

import "context"

// Call is the record of something that reaches outside, such as a tool call, as a list of steps.
type Call struct {
	tape *Tape
	n    int             // its number in the recording
	ctx  context.Context // of a call that is played
}

// Start starts the record of a call; it returns nil when nothing is recorded.
func (t *Tape) Start(name, input string) *Call {
	if !t.Records() {
		return nil
	}
	c := &Call{tape: t, n: t.recorder.number()}
	t.recorder.add(pending{Entry: Entry{Kind: Called, Of: c.n, Name: name}, complete: func(j *joiner, w *waitingEntry) {
		w.Key = digest([]byte(j.clean(input))) // a replay has the input without keys
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

// SkipIDs says that a recorded call does not run again and makes no ids: ID does not return the ids that were
// made during it.
func (c *Call) SkipIDs() { c.tape.player.skipIDs(c.n) }

package record

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

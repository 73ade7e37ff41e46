package record

import (
	"encoding/json"
	"errors"
)

// ErrNotRecorded says that the recording has no answer.
var ErrNotRecorded = errors.New("the recording has no answer to this question")

// Ask returns the answer of ask, or in a replay the recorded one, which was encoded as JSON. A replay answers
// the questions with one name and key in their order, and repeats the last answer when more are asked.
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

// Await is Value for an answer that the agent waits for, such as that servers have started. What happened before
// the recorded answer came also happens before the answer in a replay. Only one goroutine at a time may ask under a
// key.
func Await[T any](t *Tape, name, key string, ask func() T) (answer T) {
	if !t.Records() {
		return Value(t, name, key, ask)
	}
	before := t.recorder.orderedEntries()
	answer = ask()
	e := Entry{Kind: Answered, Name: name, Key: key, Waited: t.recorder.orderedEntries() != before}
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
	return LookBy(t, name, key, "", look)
}

// LookBy is Look for one of several that do the same at the same time, such as subagents, whose ids may change places
// in a replay. It is known by a text, of which the recording has the digest in the key.
func LookBy[T any](t *Tape, name, key, text string, look func() T) (seen T) {
	switch {
	case t == nil:
		return look()
	case t.player != nil:
		e, ok := t.player.look(name, keyBy(key, text))
		if !ok || json.Unmarshal(e.Data, &seen) != nil {
			return look()
		}
		return seen
	}
	seen = look()
	data, err := encode(seen)
	if err != nil {
		return seen
	}
	p := pending{Entry: Entry{Kind: Looked, Name: name, Key: key, Data: data}}
	if text != "" {
		p.complete = func(j *joiner, w *waitingEntry) { w.Key = keyBy(key, j.clean(text)) } // a replay has the text without keys
	}
	t.recorder.add(p)
	return seen
}

// keyBy adds the digest of a text to a key, if there is a text.
func keyBy(key, text string) string {
	if text == "" {
		return key
	}
	return key + " " + digest([]byte(text))
}

// Seen returns what the looks under a name and key see that a replay has not come to yet, in their order.
func Seen[T any](t *Tape, name, key string) (list []T) {
	if !t.Plays() {
		return nil
	}
	for _, data := range t.player.unseen(name, key) {
		var seen T
		if json.Unmarshal(data, &seen) == nil {
			list = append(list, seen)
		}
	}
	return list
}

// Reach is a Look that sees nothing: a replay keeps the recorded order between the point of its work that the agent
// reaches and what happens at the same time.
func (t *Tape) Reach(name, key string) {
	Look(t, name, key, func() bool { return true })
}

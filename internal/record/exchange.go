package record

import (
	"context"
	"encoding/base64"
	"unicode/utf8"
)

// Exchange is a request to a model server and its answer, in pieces.
type Exchange struct {
	tape *Tape
	n    int
}

// Exchange starts the record of an exchange. It records only the fingerprint of the request. request is called
// once, by another goroutine, with memory that it may use for its result.
func (t *Tape) Exchange(name string, request func(spare []byte) []byte) *Exchange {
	x := &Exchange{tape: t, n: t.recorder.number()}
	t.recorder.add(pending{Entry: Entry{Kind: Requested, Of: x.n, Name: name}, complete: func(j *joiner, w *waitingEntry) {
		j.request = request(j.request[:0])
		w.Data, w.cleaned = j.fingerprints.of(j.request), true
		if cap(j.request) > mostDigested {
			j.request = nil
		}
		w.Key = digest(w.Data)
	}})
	return x
}

// PlayExchange returns the recorded exchange of a request.
func (t *Tape) PlayExchange(ctx context.Context, name string, request []byte) (*Exchange, error) {
	n, err := t.player.exchange(ctx, name, request)
	if err != nil {
		return nil, err
	}
	return &Exchange{tape: t, n: n}, nil
}

// Reply records the head of the answer.
func (x *Exchange) Reply(head any) { x.add(Replied, "", head) }

// Chunk records a piece of the answer. Pieces with one name continue each other.
func (x *Exchange) Chunk(name string, piece any) { x.add(Chunk, name, piece) }

// Bytes records a piece of an answer that is not JSON. The caller does not change it after that.
func (x *Exchange) Bytes(piece []byte) {
	x.tape.recorder.add(pending{Entry: Entry{Kind: Chunk, Of: x.n}, size: len(piece), complete: func(_ *joiner, w *waitingEntry) {
		if utf8.Valid(piece) {
			w.text, w.lines = string(piece), true
			return
		}
		w.Key, w.text, w.lines = base64Name, base64.StdEncoding.EncodeToString(piece), true
	}})
}

// End records the end of the answer; why is nil when the answer was complete.
func (x *Exchange) End(why any) { x.add(Ended, "", why) }

func (x *Exchange) add(kind Kind, name string, value any) {
	e := Entry{Kind: kind, Of: x.n, Key: name}
	if value != nil {
		data, err := encode(value)
		if err != nil {
			return // values are strings and structs of strings
		}
		e.Data = data
	}
	x.tape.recorder.add(pending{Entry: e})
}

// Next waits for the place of the next piece of the recorded answer, and returns it. ok is false when ctx or
// the replay ends.
func (x *Exchange) Next(ctx context.Context) (e Entry, ok bool) { return x.tape.player.next(ctx, x.n) }

// SkipRest says that the agent does not read the rest of the recorded answer.
func (x *Exchange) SkipRest() { x.tape.player.skipRest(x.n) }

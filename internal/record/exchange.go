package record

import (
	"context"

	"acp-agent/internal/redact"
)

// Exchange is a request to a model server and its answer, in pieces.
type Exchange struct {
	tape *Tape
	n    int
}

// Exchange starts the record of an exchange. The request is kept as digests of its parts.
func (t *Tape) Exchange(name string, request []byte) *Exchange {
	x := &Exchange{tape: t, n: t.recorder.number()}
	clean := t.recorder.o.Clean
	t.recorder.add(pending{Entry: Entry{Kind: Requested, Of: x.n, Name: name}, finish: func(e *Entry) {
		e.Data = fingerprint(redact.JSON(request, clean))
		e.Key = digest(e.Data)
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

// End records the end of the answer; why is nil where that is orderly.
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

// Next returns the next piece of the recorded answer where it stands in the recording. ok is
// false when ctx ends, or the replay does.
func (x *Exchange) Next(ctx context.Context) (e Entry, ok bool) { return x.tape.player.next(ctx, x.n) }

// Leave says that the rest of the recorded answer is not read.
func (x *Exchange) Leave() { x.tape.player.leave(x.n) }

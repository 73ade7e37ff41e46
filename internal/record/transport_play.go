package record

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
)

// playingTransport answers from a recording.
type playingTransport struct{ tape *Tape }

// RoundTrip implements http.RoundTripper.
func (p playingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	x, err := p.tape.PlayExchange(req.Context(), addressOf(req), body)
	if err != nil {
		return nil, err
	}
	e, ok := x.Next(req.Context())
	if !ok {
		x.SkipRest()
		return nil, stopped(req.Context())
	}
	var h head
	if err := json.Unmarshal(e.Data, &h); err != nil {
		return nil, err
	}
	if h.Failed != nil {
		x.SkipRest()
		return nil, h.Failed.err()
	}
	return &http.Response{
		Status: http.StatusText(h.Status), StatusCode: h.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h.Header, Body: &playedBody{ctx: req.Context(), exchange: x}, ContentLength: -1, Request: req,
	}, nil
}

// stopped is why a recorded answer does not continue.
func stopped(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errReplayOver
}

// playedBody is a recorded answer.
type playedBody struct {
	ctx      context.Context // of the request, as with any answer
	exchange *Exchange
	rest     []byte // of the piece that is being read
	err      error
}

// Read implements io.Reader.
func (b *playedBody) Read(p []byte) (n int, err error) {
	for len(b.rest) == 0 && b.err == nil {
		b.readPiece()
	}
	if len(b.rest) == 0 {
		return 0, b.err
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// readPiece sets rest to the next piece, or err at the end of the answer.
func (b *playedBody) readPiece() {
	e, ok := b.exchange.Next(b.ctx)
	switch {
	case !ok:
		b.err = stopped(b.ctx)
	case e.Kind == Chunk:
		var piece string
		b.err = json.Unmarshal(e.Data, &piece)
		b.rest = []byte(piece)
		if e.Key == base64Name {
			b.rest, b.err = base64.StdEncoding.DecodeString(piece)
		}
	case e.Data == nil:
		b.err = io.EOF
	default:
		var f failure
		if b.err = json.Unmarshal(e.Data, &f); b.err != nil {
			return
		}
		if b.err = f.err(); f.Text == errClosedEarly.Error() { // the rest of the answer is not known
			<-b.ctx.Done()
			b.err = context.Cause(b.ctx)
		}
	}
}

// Close implements io.Closer.
func (b *playedBody) Close() error {
	b.exchange.SkipRest()
	return nil
}

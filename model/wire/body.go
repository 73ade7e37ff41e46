package wire

import (
	"io"
	"net/http"
)

// Pieces are the body of a request in pieces, so that a conversation is sent without being copied
// into one text first. No piece ends within a string of JSON.
type Pieces []string

// Size is the length of the body.
func (p Pieces) Size() int {
	size := 0
	for _, piece := range p {
		size += len(piece)
	}
	return size
}

// Body reads pieces, one after the other.
type Body struct {
	pieces   Pieces
	next, at int // the piece that is read, and how much of it was
}

// NewBody returns a body of these pieces.
func NewBody(pieces ...string) *Body { return &Body{pieces: pieces} }

// Read implements io.Reader. It fills p as far as it can, so that small pieces leave together.
func (b *Body) Read(p []byte) (n int, err error) {
	for n < len(p) && b.next < len(b.pieces) {
		read := copy(p[n:], b.pieces[b.next][b.at:])
		n, b.at = n+read, b.at+read
		if b.at == len(b.pieces[b.next]) {
			b.next, b.at = b.next+1, 0
		}
	}
	if n == 0 && b.next == len(b.pieces) {
		return 0, io.EOF
	}
	return n, nil
}

// Close implements io.Closer.
func (*Body) Close() error { return nil }

// SendWith makes b the body of a request.
func (b *Body) SendWith(req *http.Request) {
	req.Body, req.GetBody, req.ContentLength = b, b.again, int64(b.pieces.Size())
}

// again returns the body from its beginning, for a request that is sent once more.
func (b *Body) again() (io.ReadCloser, error) { return NewBody(b.pieces...), nil }

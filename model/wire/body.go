package wire

import (
	"io"
	"net/http"
	"strings"
)

// Body is the body of a request as a text, so that who looks at the whole of it
// need not copy it.
type Body struct {
	*strings.Reader
	text string
}

// NewBody returns a body with that text.
func NewBody(text string) *Body { return &Body{strings.NewReader(text), text} }

// Close implements io.Closer.
func (*Body) Close() error { return nil }

// SendWith makes it the body of a request.
func (b *Body) SendWith(req *http.Request) {
	req.Body, req.GetBody, req.ContentLength = b, b.again, int64(len(b.text))
}

// again returns the body from its beginning, for a request that is sent once more.
func (b *Body) again() (io.ReadCloser, error) { return NewBody(b.text), nil }

package wire

import (
	"errors"
	"io"
	"net/http"
)

// cleaning is the last to see a request: whatever way a key came into the
// conversation, it does not leave in a body.
type cleaning struct {
	http.RoundTripper
	clean func(string) string
}

// RoundTrip implements http.RoundTripper.
func (c cleaning) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return c.RoundTripper.RoundTrip(req)
	}
	pieces, err := piecesOf(req.Body)
	if err != nil {
		return nil, err
	}
	cleaned := make([]string, len(pieces))
	for i, piece := range pieces {
		cleaned[i] = c.clean(piece)
	}
	body := NewBody(cleaned...)
	req = req.Clone(req.Context()) // a RoundTripper must not change the one it is given
	body.SendWith(req)
	return c.RoundTripper.RoundTrip(req)
}

// piecesOf returns what a body holds, and closes it.
func piecesOf(body io.ReadCloser) (Pieces, error) {
	if own, ok := body.(*Body); ok {
		return own.pieces, nil
	}
	text, err := io.ReadAll(body)
	return Pieces{string(text)}, errors.Join(err, body.Close())
}

// CloseIdleConnections lets Close reach the transport below.
func (c cleaning) CloseIdleConnections() { CloseIdle(c.RoundTripper) }

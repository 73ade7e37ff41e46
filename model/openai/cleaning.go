package openai

import (
	"errors"
	"io"
	"net/http"
	"strings"
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
	var read strings.Builder // whole conversations: one copy is enough
	if req.ContentLength > 0 {
		read.Grow(int(req.ContentLength))
	}
	_, err := io.Copy(&read, req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return nil, err
	}
	body := c.clean(read.String())
	req = req.Clone(req.Context()) // a RoundTripper must not change the one it is given
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	req.Body, err = req.GetBody()
	if err != nil {
		return nil, err
	}
	return c.RoundTripper.RoundTrip(req)
}

// CloseIdleConnections lets Close reach the transport below.
func (c cleaning) CloseIdleConnections() {
	if t, ok := c.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

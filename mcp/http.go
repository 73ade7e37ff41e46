package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/internal/redact"
)

// errRefused is what a server answers to a missing or wrong key (R92).
var errRefused = errors.New("authentication failed")

// maxRedirects bounds how often one request is led on.
const maxRedirects = 10

var errRound = fmt.Errorf("it leads on more than %d times", maxRedirects)

// remote is the way to a server behind HTTP. It sends the server's headers to its origin
// alone, and ends with its context.
type remote struct {
	ctx    context.Context // of the connection: its requests end with it
	origin *url.URL
	header map[string]string
	keys   *redact.Values // the server's own
	base   *http.Transport
	// refused says that the server has answered 401 or 403, and has taken no request since.
	refused atomic.Bool

	signing
}

func newRemote(ctx context.Context, s *Server, keys *redact.Values) (*remote, error) {
	if s.URL == "" {
		return nil, errors.New("it has neither a command nor an address")
	}
	origin, err := url.Parse(s.URL)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, errors.New("its address is no http or https address")
	}
	return &remote{ctx: ctx, origin: origin, header: s.Header, keys: keys, base: http.DefaultTransport.(*http.Transport).Clone()}, nil
}

// at reports whether an address is of the server's origin.
func (r *remote) at(u *url.URL) bool { return u.Scheme == r.origin.Scheme && u.Host == r.origin.Host }

// RoundTrip implements http.RoundTripper. The address comes from the server as well: that
// of a redirect, and in the older transport that of the second stream.
func (r *remote) RoundTrip(request *http.Request) (*http.Response, error) {
	switch {
	case r.ctx.Err() != nil:
		return nil, context.Cause(r.ctx)
	case !r.at(request.URL):
		return nil, fmt.Errorf("it leads to another host, %s", request.URL.Host)
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	unbind := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	release := func() {
		unbind()
		cancel(nil)
	}
	request = request.Clone(ctx)
	for name, value := range r.header {
		request.Header.Set(name, value)
	}
	answer, err := r.authorized(request)
	if err != nil {
		release()
		return nil, err
	}
	switch {
	case answer.StatusCode == http.StatusUnauthorized:
		r.refused.Store(true)
		// To the library a message in it would be the answer of one request, and the
		// connection a good one.
		_ = answer.Body.Close()
		answer.Body = http.NoBody
	case answer.StatusCode == http.StatusForbidden:
		r.refused.Store(true)
	case answer.StatusCode/100 == 2 && request.Method == http.MethodPost:
		r.refused.Store(false)
	}
	most := int64(maxFrame)
	if isStream(answer) {
		most = math.MaxInt64 // its events are bounded one by one
	}
	answer.Body = &body{ReadCloser: answer.Body, release: release, left: most, said: redact.Stream{Values: r.keys}}
	return answer, nil
}

// isStream reports whether an answer is a stream of events, and no single message.
func isStream(answer *http.Response) bool {
	mediaType, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	return answer.StatusCode/100 == 2 && mediaType == "text/event-stream"
}

// body is that of an answer, whose request is released with it, without the keys that the
// server was given. It ends with an error when more comes than is left (M2).
type body struct {
	io.ReadCloser
	release func()
	left    int64
	said    redact.Stream
	ready   string // of what was read, what can be passed on
	end     error
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for b.ready == "" && b.end == nil {
		n, err := b.ReadCloser.Read(p)
		if b.left -= int64(n); b.left < 0 {
			b.end = errFrame
			break
		}
		b.ready = b.said.Next(string(p[:n]))
		if b.end = err; err != nil {
			b.ready += b.said.Rest()
		}
		if len(p) == 0 {
			break
		}
	}
	if b.ready == "" {
		return 0, b.end
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// transport speaks to the server.
func (r *remote) transport(s *Server) sdk.Transport {
	client := &http.Client{Transport: r, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		switch {
		case !r.at(next.URL):
			return fmt.Errorf("it leads to another host, %s", next.URL.Host)
		case len(before) >= maxRedirects:
			return errRound
		}
		return nil
	}}
	if s.SSE {
		return &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxFrame}
	}
	return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxFrame, MaxRetries: 1}
}

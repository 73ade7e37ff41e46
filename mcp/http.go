package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// errRefused is what a server answers to a missing or wrong key (R92).
var errRefused = errors.New("authentication failed")

// remote is the way to a server behind HTTP. It sends the server's headers to its origin
// alone, and ends with its context.
type remote struct {
	ctx    context.Context // of the connection: its requests end with it
	origin *url.URL
	header map[string]string
	base   *http.Transport
	// refused says that the server has answered 401 or 403.
	refused atomic.Bool
}

func newRemote(ctx context.Context, s *Server) (*remote, error) {
	origin, err := url.Parse(s.URL)
	if err != nil || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
		return nil, errors.New("its address is no http or https address")
	}
	return &remote{ctx: ctx, origin: origin, header: s.Header, base: http.DefaultTransport.(*http.Transport).Clone()}, nil
}

// RoundTrip implements http.RoundTripper.
func (r *remote) RoundTrip(request *http.Request) (*http.Response, error) {
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	ctx, cancel := context.WithCancelCause(request.Context())
	unbind := context.AfterFunc(r.ctx, func() { cancel(context.Cause(r.ctx)) })
	release := func() {
		unbind()
		cancel(nil)
	}
	request = request.Clone(ctx)
	if request.URL.Scheme == r.origin.Scheme && request.URL.Host == r.origin.Host {
		for name, value := range r.header {
			request.Header.Set(name, value)
		}
	}
	answer, err := r.base.RoundTrip(request)
	if err != nil {
		release()
		return nil, err
	}
	if answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden {
		r.refused.Store(true)
	}
	answer.Body = &body{answer.Body, release}
	return answer, nil
}

// body is that of an answer, whose request is released with it.
type body struct {
	io.ReadCloser
	release func()
}

// Close implements io.Closer.
func (b *body) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

// transport speaks to the server.
func (r *remote) transport(s *Server) sdk.Transport {
	client := &http.Client{Transport: r, CheckRedirect: func(next *http.Request, _ []*http.Request) error {
		if next.URL.Host != r.origin.Host || next.URL.Scheme != r.origin.Scheme {
			return fmt.Errorf("it leads to another host, %s", next.URL.Host)
		}
		return nil
	}}
	if s.SSE {
		return &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxFrame}
	}
	return &sdk.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, MaxEventSize: maxFrame, MaxRetries: 1}
}

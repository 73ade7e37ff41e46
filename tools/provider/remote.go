package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"acp-agent/internal/peer"
)

// remote is the way to an address: a POST for each request. It starts no goroutines but
// those of net/http, which close ends.
type remote struct {
	config Config
	client *http.Client
	last   atomic.Int64
}

func newRemote(c Config) *remote {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &remote{config: c, client: &http.Client{
		Transport: transport,
		// The headers are for this address and no other.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Call implements link.
func (r *remote) Call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	id := r.last.Add(1)
	body, err := peer.Request(id, method, params)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, r.config.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range r.config.Headers {
		post.Header.Set(name, value)
	}
	post.Header.Set("Content-Type", "application/json")
	post.Header.Set("Accept", "application/json")
	answer, err := r.client.Do(post)
	if err != nil {
		return nil, reached(ctx, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("it answered with HTTP status %d", answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, peer.MaxFrame+1))
	switch {
	case err != nil:
		return nil, reached(ctx, err)
	case len(text) > peer.MaxFrame:
		return nil, peer.ErrFrame
	}
	var m peer.Message
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, errors.New("it did not answer with JSON-RPC")
	}
	if got, ok := m.Number(); m.Error == nil && (!ok || got != id) {
		return nil, errors.New("it answered another request")
	}
	return m.Outcome()
}

// reached is the error of a request, without the address, in which a key may stand.
func reached(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return fmt.Errorf("it cannot be reached: %w", err)
}

// Err implements link: an address is asked anew each time.
func (r *remote) Err() error { return nil }

// Close implements link.
func (r *remote) Close() { r.client.CloseIdleConnections() }

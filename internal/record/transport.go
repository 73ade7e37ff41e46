package record

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Transport returns a transport that records what carrier carries, or one that answers from a recording.
// For a nil Tape it returns carrier itself.
func (t *Tape) Transport(carrier http.RoundTripper) http.RoundTripper {
	switch {
	case t == nil:
		return carrier
	case t.player != nil:
		return playing{t}
	}
	return recording{carrier, t}
}

// recorded are the headers of an answer that the agent reads.
func recorded(h http.Header) map[string][]string {
	kept := map[string][]string{}
	for name, values := range h {
		lower := strings.ToLower(name)
		if slices.Contains([]string{"content-type", "retry-after", "date", "location"}, lower) || strings.Contains(lower, "ratelimit") || strings.HasPrefix(lower, "retry-after") {
			kept[name] = values
		}
	}
	return kept
}

// nameOf names the address of a request without its query, which may hold a key.
func nameOf(req *http.Request) string {
	return req.Method + " " + req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
}

func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	req.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

// laterBody is the body of a request, read when it is needed: not on the way of the request, if the body can
// be had once more.
func laterBody(req *http.Request) (body func(spare []byte) []byte, err error) {
	if req.Body == nil || req.GetBody == nil {
		text, err := bodyOf(req)
		return func([]byte) []byte { return text }, err
	}
	again, err := req.GetBody()
	return func(spare []byte) []byte {
		text := bytes.NewBuffer(slices.Grow(spare, int(max(req.ContentLength, 0))+bytes.MinRead))
		_, _ = text.ReadFrom(again) // it is in memory
		_ = again.Close()
		return text.Bytes()
	}, err
}

// recording records what a transport carries.
type recording struct {
	http.RoundTripper
	tape *Tape
}

// RoundTrip implements http.RoundTripper.
func (r recording) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	body, err := laterBody(req)
	if err != nil {
		return nil, err
	}
	x := r.tape.Exchange(nameOf(req), body)
	res, err := r.RoundTripper.RoundTrip(req)
	if err != nil {
		x.Reply(head{Failed: failureOf(err)})
		x.End(nil)
		return nil, err
	}
	x.Reply(head{Status: res.StatusCode, Header: recorded(res.Header)})
	res.Body = &recordedBody{ReadCloser: res.Body, exchange: x}
	return res, nil
}

// CloseIdleConnections closes those of the transport.
func (r recording) CloseIdleConnections() {
	if t, ok := r.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// recordedBody records the body of an answer while it is read, in complete lines if it has lines.
type recordedBody struct {
	io.ReadCloser
	exchange *Exchange

	mu    sync.Mutex // guards what follows
	line  []byte     // the end of what was read, which is not recorded yet
	ended bool
}

// Read implements io.Reader.
func (b *recordedBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line = append(b.line, p[:n]...)
	const longest = 1 << 20
	end := bytes.LastIndexByte(b.line, '\n') + 1
	if len(b.line) > longest {
		end = len(b.line)
	}
	b.put(end)
	if err != nil {
		b.end(err)
	}
	return n, err
}

// base64Name names a piece that is not text.
const base64Name = "base64"

// put records the first n bytes of line.
func (b *recordedBody) put(n int) {
	if n == 0 || b.ended {
		return
	}
	piece := b.line[:n]
	b.line = append([]byte(nil), b.line[n:]...)
	b.exchange.Bytes(piece)
}

func (b *recordedBody) end(err error) {
	if b.ended {
		return
	}
	b.put(len(b.line))
	b.ended = true
	if errors.Is(err, io.EOF) {
		b.exchange.End(nil)
		return
	}
	b.exchange.End(failureOf(err))
}

// Close implements io.Closer. What was not read is not recorded.
func (b *recordedBody) Close() error {
	b.mu.Lock()
	b.end(errClosedEarly)
	b.mu.Unlock()
	return b.ReadCloser.Close()
}

var errClosedEarly = errors.New("closed before its end")

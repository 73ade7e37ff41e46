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
		return playingTransport{t}
	}
	return recordingTransport{carrier, t}
}

// recordedHeaders returns the headers of an answer that the agent reads.
func recordedHeaders(h http.Header) map[string][]string {
	kept := map[string][]string{}
	for name, values := range h {
		lower := strings.ToLower(name)
		if slices.Contains([]string{"content-type", "date", "location"}, lower) || strings.Contains(lower, "ratelimit") || strings.HasPrefix(lower, "retry-after") {
			kept[name] = values
		}
	}
	return kept
}

// addressOf returns the method and address of a request without its query, which may hold a key.
func addressOf(req *http.Request) string {
	return req.Method + " " + req.URL.Scheme + "://" + req.URL.Host + req.URL.EscapedPath()
}

// readBody returns the body of a request, which can then be read once more.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
	_ = req.Body.Close()
	req.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

// deferBody returns a function that returns the body of a request, in the memory of spare where that suffices.
// If the request can give its body twice, only that function reads it, so that the request does not wait.
func deferBody(req *http.Request) (body func(spare []byte) []byte, err error) {
	if req.Body == nil || req.GetBody == nil {
		text, err := readBody(req)
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

// recordingTransport records what a transport carries.
type recordingTransport struct {
	http.RoundTripper
	tape *Tape
}

// RoundTrip implements http.RoundTripper.
func (r recordingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	body, err := deferBody(req)
	if err != nil {
		return nil, err
	}
	x := r.tape.Exchange(addressOf(req), body)
	res, err := r.RoundTripper.RoundTrip(req)
	if err != nil {
		x.Reply(head{Failed: failureOf(err)})
		x.End(nil)
		return nil, err
	}
	x.Reply(head{Status: res.StatusCode, Header: recordedHeaders(res.Header)})
	res.Body = &recordedBody{ReadCloser: res.Body, exchange: x}
	return res, nil
}

// CloseIdleConnections closes those of the transport.
func (r recordingTransport) CloseIdleConnections() {
	if t, ok := r.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// recordedBody records the body of an answer while it is read, in complete lines if it has lines.
type recordedBody struct {
	io.ReadCloser
	exchange *Exchange

	mu    sync.Mutex // guards what follows
	rest  []byte     // the end of what was read, which is not recorded yet
	ended bool
}

// Read implements io.Reader.
func (b *recordedBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest = append(b.rest, p[:n]...)
	const longestLine = 1 << 20
	end := bytes.LastIndexByte(b.rest, '\n') + 1
	if len(b.rest) > longestLine {
		end = len(b.rest)
	}
	b.record(end)
	if err != nil {
		b.finish(err)
	}
	return n, err
}

// base64Name is the name of a piece that is not text.
const base64Name = "base64"

// record records the first n bytes of rest.
func (b *recordedBody) record(n int) {
	if n == 0 || b.ended {
		return
	}
	piece := b.rest[:n]
	b.rest = append([]byte(nil), b.rest[n:]...)
	b.exchange.Bytes(piece)
}

// finish records the rest, and the end of the answer with its error.
func (b *recordedBody) finish(err error) {
	if b.ended {
		return
	}
	b.record(len(b.rest))
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
	b.finish(errClosedEarly)
	b.mu.Unlock()
	return b.ReadCloser.Close()
}

var errClosedEarly = errors.New("closed before its end")

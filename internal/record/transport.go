package record

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// Transport returns carrier with a record of what it carries, or what answers in its place from
// a recording. Without a Tape it is carrier itself.
func (t *Tape) Transport(carrier http.RoundTripper) http.RoundTripper {
	switch {
	case t == nil:
		return carrier
	case t.player != nil:
		return playing{t}
	}
	return recording{carrier, t}
}

// head is the head of an answer.
type head struct {
	Status int                 `json:"status,omitempty"`
	Header map[string][]string `json:"header,omitempty"`
	Failed *failure            `json:"failed,omitempty"`
}

// failure is an error of a connection, by what callers tell errors apart by.
type failure struct {
	Text    string `json:"text"`
	Timeout bool   `json:"timeout,omitempty"`
	Host    string `json:"host,omitempty"` // that was not found
	Is      string `json:"is,omitempty"`
}

// sentinels are the errors that callers compare with.
func sentinels() map[string]error {
	return map[string]error{
		"refused": syscall.ECONNREFUSED, "reset": syscall.ECONNRESET, "eof": io.EOF, "unexpected eof": io.ErrUnexpectedEOF,
		"cancelled": context.Canceled, "scheme": http.ErrSchemeMismatch,
	}
}

func failureOf(err error) *failure {
	f := &failure{Text: err.Error()}
	if timeout, ok := errors.AsType[net.Error](err); ok {
		f.Timeout = timeout.Timeout()
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		f.Host = dns.Name
	}
	for name, sentinel := range sentinels() {
		if errors.Is(err, sentinel) {
			f.Is = name
		}
	}
	return f
}

func (f *failure) err() error {
	if f.Host != "" {
		return &net.DNSError{Err: f.Text, Name: f.Host, IsTimeout: f.Timeout, IsNotFound: true}
	}
	if f.Is == "eof" && f.Text == io.EOF.Error() {
		return io.EOF
	}
	return &playedError{failure: *f, err: sentinels()[f.Is]}
}

// playedError is a recorded error of a connection.
type playedError struct {
	failure
	err error
}

// Error implements error.
func (e *playedError) Error() string { return e.Text }

// Unwrap returns what callers compare with.
func (e *playedError) Unwrap() error { return e.err }

// Timeout implements net.Error.
func (e *playedError) Timeout() bool { return e.failure.Timeout }

// Temporary implements net.Error.
func (e *playedError) Temporary() bool { return false }

// recorded are the headers of an answer that have a meaning for the agent.
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

// recording records what a transport carries.
type recording struct {
	http.RoundTripper
	tape *Tape
}

// RoundTrip implements http.RoundTripper.
func (r recording) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	body, err := bodyOf(req)
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

// recordedBody records what is read of an answer, in whole lines where it has lines.
type recordedBody struct {
	io.ReadCloser
	exchange *Exchange

	mu    sync.Mutex
	line  []byte // that has not ended
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

// put records the first bytes of what was read.
func (b *recordedBody) put(n int) {
	if n == 0 || b.ended {
		return
	}
	piece := b.line[:n]
	if utf8.Valid(piece) {
		b.exchange.Chunk("", string(piece))
	} else {
		b.exchange.Chunk(base64Name, base64.StdEncoding.EncodeToString(piece))
	}
	b.line = append([]byte(nil), b.line[n:]...)
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

// playing answers from a recording.
type playing struct{ tape *Tape }

// RoundTrip implements http.RoundTripper.
func (p playing) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := bodyOf(req)
	if err != nil {
		return nil, err
	}
	x, err := p.tape.PlayExchange(req.Context(), nameOf(req), body)
	if err != nil {
		return nil, err
	}
	e, ok := x.Next(req.Context())
	if !ok {
		x.Leave()
		return nil, stopped(req.Context())
	}
	var h head
	if err := json.Unmarshal(e.Data, &h); err != nil {
		return nil, err
	}
	if h.Failed != nil {
		x.Leave()
		return nil, h.Failed.err()
	}
	return &http.Response{
		Status: http.StatusText(h.Status), StatusCode: h.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h.Header, Body: &playedBody{ctx: req.Context(), exchange: x}, ContentLength: -1, Request: req,
	}, nil
}

// stopped is why a recorded answer does not go on.
func stopped(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return errOver
}

// playedBody is a recorded answer.
type playedBody struct {
	ctx      context.Context // of the request, as with any answer
	exchange *Exchange
	rest     []byte
	err      error
}

// Read implements io.Reader.
func (b *playedBody) Read(p []byte) (n int, err error) {
	for len(b.rest) == 0 && b.err == nil {
		b.read()
	}
	if len(b.rest) == 0 {
		return 0, b.err
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func (b *playedBody) read() {
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
		if b.err = f.err(); f.Text == errClosedEarly.Error() { // more would have come
			<-b.ctx.Done()
			b.err = context.Cause(b.ctx)
		}
	}
}

// Close implements io.Closer.
func (b *playedBody) Close() error {
	b.exchange.Leave()
	return nil
}

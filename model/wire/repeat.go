package wire

import (
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// repeating sends a request once more, on a new connection, when it met one that the server
// closed before a byte of the answer. llama.cpp closes connections that it has promised to
// keep (github.com/ggml-org/llama.cpp/issues/7694, yhirose/cpp-httplib/issues/1870), often in
// the moment in which the next step begins. http.Transport does this for a GET alone.
type repeating struct {
	http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r repeating) RoundTrip(req *http.Request) (*http.Response, error) {
	var reused, answered atomic.Bool
	traced := req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn:              func(conn httptrace.GotConnInfo) { reused.Store(conn.Reused) },
		GotFirstResponseByte: func() { answered.Store(true) },
	}))
	res, err := r.RoundTripper.RoundTrip(traced)
	if err == nil || !reused.Load() || answered.Load() || req.Context().Err() != nil || req.GetBody == nil {
		return res, err
	}
	body, failure := req.GetBody()
	if failure != nil {
		return nil, err
	}
	again := req.Clone(req.Context()) // a RoundTripper must not change the one it is given
	again.Body = body
	r.CloseIdleConnections() // the other idle ones are as old
	return r.RoundTripper.RoundTrip(again)
}

// CloseIdleConnections lets Close reach the transport below.
func (r repeating) CloseIdleConnections() { CloseIdle(r.RoundTripper) }

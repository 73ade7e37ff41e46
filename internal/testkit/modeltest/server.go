package modeltest

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Server is a running fake. It is safe for concurrent use.
type Server struct {
	// URL is the base URL, with its /v1.
	URL string

	http *http.Server
	done chan struct{} // closed once the HTTP server has ended

	mu       sync.Mutex
	steps    []Step
	requests []Request
	routes   map[string]http.HandlerFunc
}

// Request is what the server was asked.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	Body                []byte
	// Conn is the client's address: equal for requests over one connection.
	Conn string
}

// TB is what New needs of a *testing.T.
type TB interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

// New starts a server that ends with the test.
func New(tb TB, steps ...Step) *Server {
	tb.Helper()
	s, err := Start(steps...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// Start starts a server for programs that are not tests; Close ends it.
func Start(steps ...Step) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{
		URL: "http://" + listener.Addr().String() + "/v1", steps: steps,
		done: make(chan struct{}), routes: map[string]http.HandlerFunc{},
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener) // ends with Close
	}()
	return s, nil
}

// Close breaks all connections and waits for the server's end.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.done
}

// Add appends steps.
func (s *Server) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Handle answers requests for a path, such as /v1/models or /api/show.
func (s *Server) Handle(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[path] = h
}

// HandleJSON answers requests for a path with a JSON text.
func (s *Server) HandleJSON(path, text string) {
	s.Handle(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
	})
}

// Requests returns all requests so far, in the order they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Left is the number of steps that were not used.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.steps)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Clone(), body, r.RemoteAddr})
	route := s.routes[r.URL.Path]
	s.mu.Unlock()
	switch {
	case route != nil:
		r.Body = io.NopCloser(bytes.NewReader(body))
		route(w, r)
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		step, ok := s.next(body)
		if !ok {
			http.Error(w, `{"error":{"message":"modeltest: no step is left for this request","type":"invalid_request_error"}}`, http.StatusBadRequest)
			return
		}
		step.answer(w, r)
	default:
		http.NotFound(w, r)
	}
}

// next takes the first step that serves the body.
func (s *Server) next(body []byte) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.steps {
		step := s.steps[i]
		if !bytes.Contains(body, []byte(step.When)) {
			continue
		}
		switch {
		case step.Repeat > 1:
			s.steps[i].Repeat--
		case step.Repeat >= 0:
			s.steps = append(s.steps[:i:i], s.steps[i+1:]...)
		}
		return step, true
	}
	return Step{}, false
}

// answer plays the step.
func (s *Step) answer(w http.ResponseWriter, r *http.Request) {
	for name, value := range s.Header {
		w.Header().Set(name, value)
	}
	switch {
	case s.Status != 0 && s.Status != http.StatusOK:
		w.WriteHeader(s.Status)
		_, _ = io.WriteString(w, s.Body)
	case s.Body != "":
		_, _ = io.WriteString(w, s.Body)
	case s.Whole:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.whole())
	default:
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		(&stream{w: w, r: r, step: s}).play()
	}
}

// whole is the answer as one object.
func (s *Step) whole() map[string]any {
	message := map[string]any{"role": "assistant", "content": s.Text}
	var calls []any
	for i, call := range s.Calls {
		calls = append(calls, map[string]any{
			"id": call.id(i), "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": call.Arguments},
		})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	answer := map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "model": "fake",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": s.finish()}},
	}
	if s.Usage != nil {
		answer["usage"] = s.Usage
	}
	return answer
}

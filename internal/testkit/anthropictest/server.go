package anthropictest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Server is a running fake. It is safe for concurrent use.
type Server struct {
	// URL is the base URL, without a path.
	URL string
	// Lenient leaves the rules unchecked.
	Lenient bool

	mu      sync.Mutex
	steps   []Step
	sent    []Exchange
	broken  []string
	answers map[string][]block // by signature or data: the thinking of one answer
}

// Exchange is a request and what it was answered.
type Exchange struct {
	Path   string
	Header http.Header
	Body   []byte
	Status int
	// Stream is the answer as it was sent.
	Stream string
}

// Step is one answer.
type Step struct {
	// Thinking, Redacted, Text and Calls are its blocks, in this order. Silent thinking has
	// a signature and no text, as with display "omitted".
	Thinking, Redacted, Text string
	Silent                   bool
	Calls                    []Call
	// Stop is the stop reason; empty means the one that fits.
	Stop string
	// Usage is that of message_delta besides the output tokens, as members of JSON.
	Usage string

	// Status other than 0 is sent with Header and Body alone.
	Status int
	Header map[string]string
	Body   string
	// Cut breaks the connection after so many events; 0 means never.
	Cut int
	// Stall keeps silent after so many events, until the client goes away.
	Stall int
	// Fail is the type of an error event that ends the stream after the first block.
	Fail string
}

// Call is a tool call of a step.
type Call struct {
	ID, Name, Input string
}

// TB is what New needs of a *testing.T.
type TB interface {
	Helper()
	Cleanup(func())
}

// New starts a server that ends with the test.
func New(tb TB, steps ...Step) *Server {
	tb.Helper()
	s := &Server{steps: steps, answers: map[string][]block{}}
	web := httptest.NewServer(s)
	s.URL = web.URL
	tb.Cleanup(func() { web.CloseClientConnections(); web.Close() })
	return s
}

// Add appends steps.
func (s *Server) Add(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Exchanges are the requests for steps so far, in the order they came.
func (s *Server) Exchanges() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Exchange(nil), s.sent...)
}

// Broken are the breaks of rules so far.
func (s *Server) Broken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.broken...)
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
	if strings.HasPrefix(r.URL.Path, "/v1/models") {
		s.models(w, r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	record := Exchange{Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Status: http.StatusOK}
	defer func() { s.sent = append(s.sent, record) }()
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		record.Status = refuse(w, http.StatusNotFound, "not_found_error", "Not found")
		return
	}
	status, kind, problem := s.judge(r.Header, body)
	if problem != "" && !s.Lenient {
		s.broken = append(s.broken, problem)
		record.Status = refuse(w, status, kind, problem)
		return
	}
	if len(s.steps) == 0 {
		s.broken = append(s.broken, "no step is left")
		record.Status = refuse(w, http.StatusBadRequest, "invalid_request_error", "anthropictest: no step is left for this request")
		return
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	if step.Status != 0 {
		for name, value := range step.Header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(step.Status)
		_, _ = io.WriteString(w, step.Body)
		record.Status = step.Status
		return
	}
	record.Stream = s.stream(w, r, &step, body, len(s.sent))
}

// models answers with two models, with the members of the official SDK's ModelInfo.
func (*Server) models(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	yes, no := `{"supported":true}`, `{"supported":false}`
	entry := func(id, name string, window int, adaptive, enabled string) string {
		return fmt.Sprintf(`{"type":"model","id":%q,"display_name":%q,"created_at":"2026-10-07T00:00:00Z","max_input_tokens":%d,"max_tokens":50000,`+
			`"capabilities":{"image_input":%s,"thinking":{"supported":true,"types":{"adaptive":%s,"enabled":%s,"disabled":%s}},`+
			`"effort":{"supported":%s,"low":%s,"medium":%s,"high":%s,"xhigh":null,"max":%s}}}`,
			id, name, window, yes, adaptive, enabled, yes, adaptive, adaptive, adaptive, adaptive, adaptive)
	}
	first := entry("claude-test-9", "Claude Test 9", 700_000, yes, no)
	second := entry("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, no, yes)
	if strings.HasSuffix(r.URL.Path, "/claude-test-9") {
		_, _ = io.WriteString(w, first)
		return
	}
	if r.URL.Path != "/v1/models" {
		refuse(w, http.StatusNotFound, "not_found_error", "model: "+r.URL.Path)
		return
	}
	_, _ = io.WriteString(w, `{"data":[`+first+`,`+second+`],"has_more":false,"first_id":"a","last_id":"b"}`)
}

// refuse writes an error in the API's shape
// (platform.claude.com/docs/en/api/errors, Error shapes).
func refuse(w http.ResponseWriter, status int, kind, message string) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"type": "error", "error": map[string]string{"type": kind, "message": message}, "request_id": "req_1",
	})
	return status
}

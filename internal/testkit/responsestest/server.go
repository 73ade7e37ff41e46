package responsestest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Server is a running fake. It is safe for concurrent use; what it is like is set before the
// first request.
type Server struct {
	// URL is the base URL, with its /v1.
	URL string
	// Lenient leaves the rules unchecked.
	Lenient bool
	// Plain models do not think, and Efforts are the efforts of the others; nil means any.
	// Unverified accounts get no summaries.
	Plain, Unverified bool
	Efforts           []string
	// Known leaves events of unknown types out; the official SDK gives up at one.
	Known bool
	// TextOutputs says that results of calls are text alone, as with llama.cpp.
	TextOutputs bool
	// Blind is what a model that takes no images says of a request with one.
	Blind string
	// NoResponses is a server with Chat Completions alone; ResponsesOnly is what it says of
	// requests there.
	NoResponses   bool
	ResponsesOnly string

	mu      sync.Mutex
	steps   []Step
	sent    []Exchange
	broken  []string
	written map[string]written // by id: the items of all answers
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
	// Thoughts are the parts of a summary; Silent reasoning has none. Raw is reasoning as it
	// is, which models with open weights send.
	Thoughts []string
	Silent   bool
	Raw      string
	// Comment is a message before all calls, Text the one after them, Refusal takes its place.
	Comment, Text, Refusal string
	Calls                  []Call
	// Between has reasoning before each call.
	Between bool
	// Incomplete is the reason for an answer that is not whole.
	Incomplete string
	// Failed is the code of an error that ends the answer after its first item, Error that
	// of an error event.
	Failed, Error string

	// Status other than 0 is sent with Header and Body alone.
	Status int
	Header map[string]string
	Body   string
	// Cut breaks the connection after so many events; 0 means never.
	Cut int
	// Whole sends the answer as one object.
	Whole bool
}

// Call is a tool call of a step.
type Call struct {
	Name, Arguments string
}

// TB is what New needs of a *testing.T.
type TB interface {
	Helper()
	Cleanup(func())
}

// New starts a server that ends with the test.
func New(tb TB, steps ...Step) *Server {
	tb.Helper()
	s := &Server{steps: steps, written: map[string]written{}}
	web := httptest.NewServer(s)
	s.URL = web.URL + "/v1"
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
	if r.URL.Path == "/v1/models" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"gpt-test-9","object":"model","created":1,"owned_by":"openai"}]}`)
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/v1/") { // a question of what kind of server it is
		refuse(w, &problem{status: http.StatusNotFound, text: "Not Found"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	record := Exchange{Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Status: http.StatusOK}
	defer func() { s.sent = append(s.sent, record) }()
	switch {
	case r.URL.Path == "/v1/chat/completions" && s.ResponsesOnly != "":
		found := &problem{status: http.StatusNotFound, text: s.ResponsesOnly, param: "model"}
		if strings.Contains(found.text, "reasoning_effort") { // a model that is there, see wire.Detail.WantsResponses
			found.status, found.param = http.StatusBadRequest, "reasoning_effort"
		}
		record.Status = refuse(w, found)
		return
	case r.URL.Path == "/v1/chat/completions" && s.NoResponses:
		record.Stream = s.chat(w)
		return
	case r.Method != http.MethodPost || r.URL.Path != "/v1/responses" || s.NoResponses:
		record.Status = refuse(w, &problem{status: http.StatusNotFound, text: "Not Found"})
		return
	}
	if found := s.judge(r.Header, body); found != nil && !s.Lenient {
		s.broken = append(s.broken, found.text)
		record.Status = refuse(w, found)
		return
	}
	if len(s.steps) == 0 {
		s.broken = append(s.broken, "no step is left")
		record.Status = refuse(w, bad("", "responsestest: no step is left for this request"))
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
	record.Stream = s.stream(w, &step, body, len(s.sent))
}

// chat answers with the text of the next step in the other API.
func (s *Server) chat(w http.ResponseWriter) string {
	text := ""
	if len(s.steps) > 0 {
		text = s.steps[0].Text
		s.steps = s.steps[1:]
	}
	quoted, _ := json.Marshal(text)
	stream := fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", quoted)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, stream)
	return stream
}

// problem is an error of the API.
type problem struct {
	status            int
	text, param, code string
}

// bad is a problem with a parameter.
func bad(param, format string, values ...any) *problem {
	return &problem{status: http.StatusBadRequest, text: fmt.Sprintf(format, values...), param: param}
}

// refuse writes an error in the API's shape.
func refuse(w http.ResponseWriter, p *problem) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	null := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": p.text, "type": "invalid_request_error", "param": null(p.param), "code": null(p.code),
	}})
	return p.status
}

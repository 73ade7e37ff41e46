package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Rule is how one kind of server sends reasoning and what it wants of it in the requests
// that follow.
type Rule struct {
	// Name is a word that the server puts into each answer, to know it again.
	Name string
	// Source is where the rule is published.
	Source string
	// BaseURL and Model are what a user of such a server configures.
	BaseURL, Model string
	// Learned is how many requests the server refuses before a client that does not know
	// it by its address knows its rule; Known is the same for one that does.
	Learned, Known int

	// Deltas are those of the reasoning of step n, before the rest of the answer; Extra is
	// the extra_content of its first call.
	Deltas func(n int) []string
	Extra  func(n int) string
	// Members are what step n must have when it comes back, besides role, content and
	// tool_calls; Content is what its content must be, of past turns and of this one.
	Members func(n int) map[string]string
	Content func(n int, text string, past bool) string
	// Others are the members that messages of other servers must have, OthersExtra the
	// extra_content of their first call.
	Others      map[string]string
	OthersExtra string

	// Status and Missing are how it refuses a message without what it wants, Unknown one
	// with a member that it does not want; Missing and Unknown have the number of the
	// message and the name of the member.
	Status           int
	Missing, Unknown string
}

// Strict is a server of one Rule, which answers to every break with an error. Each prompt is
// answered with Calls steps of a tool call, then with a text.
type Strict struct {
	*Server
	Rule  Rule
	Calls int

	mu      sync.Mutex
	steps   int
	refused []string
}

// NewStrict starts a server that ends with the test.
func NewStrict(tb TB, rule Rule, calls int) *Strict {
	tb.Helper()
	s := &Strict{Server: New(tb), Rule: rule, Calls: calls}
	s.Handle("/v1/chat/completions", s.answer)
	return s
}

// Refused are the errors that it answered with.
func (s *Strict) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.refused)
}

// Transport carries requests for any address to the server.
func (s *Strict) Transport() http.RoundTripper {
	return redirect{strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/v1")}
}

// redirect sends every request to one server.
type redirect struct{ host string }

// RoundTrip implements http.RoundTripper.
func (r redirect) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.URL.Scheme, req.URL.Host, req.URL.Path = "http", r.host, "/v1/chat/completions"
	req.Host = ""
	return http.DefaultTransport.RoundTrip(req)
}

// CloseIdleConnections closes those of all such transports, for they share one.
func (redirect) CloseIdleConnections() {
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func (s *Strict) answer(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model    string
		Messages []message
	}
	text, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := json.Unmarshal(text, &body); err != nil {
		s.refuse(w, err.Error())
		return
	}
	turn := 0
	for i, m := range body.Messages {
		if m.text("role") == "user" {
			turn = i
		}
	}
	calls := 0
	for i, m := range body.Messages {
		if m.text("role") != "assistant" {
			continue
		}
		if i > turn {
			calls++
		}
		if broken := s.check(i, m, i < turn); broken != "" {
			s.refuse(w, broken)
			return
		}
	}
	step := s.step(s.steps, calls == s.Calls)
	s.steps++
	step.answer(w, r)
}

func (s *Strict) refuse(w http.ResponseWriter, message string) {
	s.refused = append(s.refused, message)
	w.WriteHeader(max(s.Rule.Status, http.StatusBadRequest))
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil}})
}

// step is answer n: a text, or two calls of which the first says whose they are.
func (s *Strict) step(n int, last bool) Step {
	mark := s.mark(n)
	wrap := func(delta string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}` + "\n"
	}
	step := Step{}
	for _, delta := range s.Rule.Deltas(n) {
		step.Raw = append(step.Raw, wrap(delta))
	}
	if last {
		step.Raw = append(step.Raw, wrap(`{"content":"`+mark+`"}`), `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n")
	} else {
		extra := ""
		if s.Rule.Extra != nil {
			extra = `,"extra_content":` + s.Rule.Extra(n)
		}
		step.Raw = append(step.Raw,
			wrap(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":"{\"of\":\"`+mark+`\"}"}`+extra+`}]}`),
			wrap(`{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]}`),
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`+"\n")
	}
	step.Raw = append(step.Raw, "data: [DONE]\n")
	return step
}

func (s *Strict) mark(n int) string { return "[" + s.Rule.Name + "#" + strconv.Itoa(n) + "]" }

// message is one of a request.
type message map[string]json.RawMessage

func (m message) text(name string) string {
	var text string
	_ = json.Unmarshal(m[name], &text)
	return text
}

// markForm is what step puts into each answer.
var markForm = regexp.MustCompile(`\[([^\[\]#]+)#([0-9]+)\]`)

// check returns how message i breaks the rule, "" when it keeps it. past says that the message
// belongs to a turn before the last.
func (s *Strict) check(i int, m message, past bool) string {
	var calls []struct {
		Extra json.RawMessage `json:"extra_content"`
	}
	_ = json.Unmarshal(m["tool_calls"], &calls)
	want, wantExtra, text := s.Rule.Others, s.Rule.OthersExtra, ""
	found := markForm.FindStringSubmatch(string(m["content"]) + string(m["tool_calls"]))
	if found != nil && found[1] == s.Rule.Name {
		n, _ := strconv.Atoi(found[2])
		want, wantExtra = nil, ""
		if s.Rule.Members != nil {
			want = s.Rule.Members(n)
		}
		if s.Rule.Extra != nil {
			wantExtra = s.Rule.Extra(n)
		}
		if len(calls) == 0 {
			text = s.mark(n)
		}
		if s.Rule.Content != nil && string(m["content"]) != s.Rule.Content(n, text, past) {
			return fmt.Sprintf("the content of message %d is %s, want %s", i, m["content"], s.Rule.Content(n, text, past))
		}
	}
	for name, value := range want {
		if string(m[name]) != value {
			return fmt.Sprintf(s.Rule.Missing, i, name) + fmt.Sprintf(" (got %.200s, want %.200s)", m[name], value)
		}
	}
	for name := range m {
		if want[name] == "" && !slices.Contains([]string{"role", "content", "tool_calls"}, name) {
			return fmt.Sprintf(s.Rule.Unknown, i, name)
		}
	}
	for j, call := range calls {
		switch {
		case j == 0 && string(call.Extra) != wantExtra && wantExtra != "":
			return fmt.Sprintf(s.Rule.Missing, i, "thought_signature") + fmt.Sprintf(" (got %.200s, want %.200s)", call.Extra, wantExtra)
		case (j > 0 || wantExtra == "") && call.Extra != nil:
			return fmt.Sprintf(s.Rule.Unknown, i, "extra_content")
		}
	}
	return ""
}

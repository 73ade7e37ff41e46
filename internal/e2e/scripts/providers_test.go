package scripts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// asked is what a server of providerServer reads of a request.
type asked struct {
	Model    string
	Messages []struct {
		Role    string
		Content json.RawMessage
	}
	// Members are the members that set a thought level, and caching.
	Effort   json.RawMessage `json:"reasoning_effort"`
	Object   json.RawMessage `json:"reasoning"`
	Thinking json.RawMessage `json:"thinking"`
	Enable   json.RawMessage `json:"enable_thinking"`
	Budget   json.RawMessage `json:"thinking_budget"`
	Template json.RawMessage `json:"chat_template_kwargs"`
	Cache    json.RawMessage `json:"cache_control"`
}

// settings are the members that are set, as text.
func (a *asked) settings() string {
	var set []string
	for _, m := range []struct {
		name string
		text json.RawMessage
	}{
		{"reasoning_effort", a.Effort},
		{"reasoning", a.Object},
		{"thinking", a.Thinking},
		{"enable_thinking", a.Enable},
		{"thinking_budget", a.Budget},
		{"chat_template_kwargs", a.Template},
		{"cache_control", a.Cache},
	} {
		if m.text != nil {
			set = append(set, m.name+"="+string(m.text))
		}
	}
	return strings.Join(set, " ")
}

// providerServer starts a server of models along with others: `providerserver NAME KEY
// MODEL...`; its address is $NAME. It wants the key, lists the models, and says of each
// request which model was asked and how it was to think. Each step takes 1000 tokens of
// input, 400 of them cached, and 100 of output. A prompt `delegate AGENT WORDS` makes it
// call the task tool.
func providerServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: providerserver NAME KEY MODEL...")
	}
	name, key, models := args[0], args[1], args[2:]
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer "+key:
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/models"):
			fmt.Fprintf(w, `{"data":[{"id":"%s"}]}`, strings.Join(models, `"},{"id":"`))
		case strings.HasSuffix(r.URL.Path, "/chat/completions"):
			var a asked
			_ = json.NewDecoder(r.Body).Decode(&a)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\n", a.answer(name))
			fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":400}}}`+"\n\ndata: [DONE]\n\n")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(name, server.URL+"/v1")
}

// answer is the delta of the answer.
func (a *asked) answer(server string) string {
	last := a.Messages[len(a.Messages)-1]
	var text string
	_ = json.Unmarshal(last.Content, &text)
	if rest, ok := strings.CutPrefix(text, "delegate "); ok && last.Role == "user" {
		agent, words, _ := strings.Cut(rest, " ")
		args, _ := json.Marshal(map[string]string{"subagent_type": agent, "prompt": words})
		call, _ := json.Marshal(string(args))
		return fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"task","arguments":%s}}]}`, call)
	}
	said, _ := json.Marshal(strings.TrimSpace(fmt.Sprintf("%s of %s answers. %s", a.Model, server, a.settings())))
	return fmt.Sprintf(`{"content":%s}`, said)
}

// expand replaces $NAME in files by the script's variables.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand FILE...")
	}
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

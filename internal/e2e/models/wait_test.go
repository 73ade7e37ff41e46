//go:build unix

package models

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/testfile"
)

const (
	emptyDelta = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	keepAlive  = ": keep-alive\n\n"
	halfDelta  = `data: {"choices":[{"index":0,"delta":{"content":"half"},"finish_reason":null}]}` + "\n\n"
	finished   = `data: {"choices":[{"index":0,"delta":{"content":"Here."},"finish_reason":"stop"}]}` + "\n\n"
	openCall   = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}` + "\n\n"
	growCall   = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":" "}}]},"finish_reason":null}]}` + "\n\n"
	endCall    = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":\"x\"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"
)

// slowAnswer is an answer that repeats a piece for a while, or for ever.
type slowAnswer struct {
	head, piece string
	lasts       time.Duration // 0 is for ever
	tail        string
}

func (a slowAnswer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(text string) {
		_, _ = io.WriteString(w, text) // a client that is gone ends the context
		w.(http.Flusher).Flush()
	}
	say(a.head)
	var over <-chan time.Time
	if a.lasts > 0 {
		over = time.After(a.lasts)
	}
	pieces := time.NewTicker(5 * time.Millisecond)
	defer pieces.Stop()
	for {
		select {
		case <-pieces.C:
			say(a.piece)
		case <-over:
			say(a.tail)
			return
		case <-r.Context().Done():
			return
		}
	}
}

// TestRobust_NoContent is R140: a model server that keeps an answer open and says nothing
// in it is given up: sooner when it does not say that it is busy. What grows an answer, be
// it the arguments of a call, is waited for. The wait is shown.
func TestRobust_NoContent(t *testing.T) {
	t.Parallel()
	const limits = `{"model": {"idle_timeout": "1s", "content_timeout": "500ms", "keep_alive_timeout": "1500ms", "notice_after": "200ms"}}`
	here := slowAnswer{head: finished, lasts: time.Millisecond}
	for _, tc := range []struct {
		name    string
		answers []slowAnswer
		stop    string // "" means an error
		text    string // in the error, or in what is said
		shown   int    // at least so many notices of the wait
		tries   int
	}{
		{"empty deltas", []slowAnswer{{piece: emptyDelta}, here}, "end_turn", "said nothing", 1, 2},
		{"empty deltas after text", []slowAnswer{{head: halfDelta, piece: emptyDelta}}, "", "for 500ms and said nothing", 1, 1},
		{"the finish, and then empty deltas", []slowAnswer{{head: finished, piece: emptyDelta, lasts: time.Minute}}, "end_turn", "Here.", 0, 1},
		{"busy for a while", []slowAnswer{{piece: keepAlive, lasts: time.Second, tail: finished}}, "end_turn", "Here.", 2, 1},
		{"busy for ever", []slowAnswer{{head: halfDelta, piece: keepAlive}}, "", "for 1.5s and said nothing", 2, 1},
		{"arguments that grow", []slowAnswer{{head: openCall, piece: growCall, lasts: time.Second, tail: endCall}, here}, "end_turn", "Here.", 0, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t)
			var tries atomic.Int64
			server.Handle("/v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
				n := min(int(tries.Add(1)), len(tc.answers))
				tc.answers[n-1].ServeHTTP(w, r)
			})
			agent := acptest.Start(t, acptest.Options{
				Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake", testfile.Config(t, "%s", limits)},
			})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			turn := session.Prompt("go")
			if tc.stop != "" {
				turn.Ends(tc.stop)
				if text := session.Text(); !strings.Contains(text, tc.text) || strings.Count(text, "Here.") != 1 {
					t.Errorf("the agent said %q, want it to contain %q", text, tc.text)
				}
			} else {
				turn.Fails(-32603, tc.text)
				if text := session.Text(); strings.Count(text, "half") != 1 {
					t.Errorf("the agent said %q", text)
				}
			}
			if got := int(tries.Load()); got != tc.tries {
				t.Errorf("the model was asked %d times, want %d", got, tc.tries)
			}
			shown := 0
			for _, l := range agent.Lines() {
				if l.FromAgent && l.Message != nil && acptest.Update("agent_message_chunk", "content.text", "aiting for the model")(l.Message) {
					shown++
				}
			}
			// One each time the wait has doubled: 200, 400 and 800 milliseconds.
			if shown < tc.shown || shown > 4 {
				t.Errorf("the wait was shown %d times, want at least %d", shown, tc.shown)
			}
		})
	}
}

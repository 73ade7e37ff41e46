//go:build !race

package protocol

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/testreq"
)

// hugeAnswer streams so many kilobytes in one member of a delta, and then the finish.
type hugeAnswer struct {
	head, piece, tail string
	kilobytes         int
}

func (h hugeAnswer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(delta, finish string) bool {
		_, err := fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
		return err == nil && r.Context().Err() == nil
	}
	event(h.head, "null")
	for range h.kilobytes {
		if !event(fmt.Sprintf(h.piece, filler), "null") {
			return
		}
	}
	event(h.tail, `"stop"`)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// TestRobust_HugeAnswer is about memory: a huge text or thought is held a few times and
// no more, with the request that repeats it and the record that stores it. Arguments of tool calls, which are held
// more often, have a bound, and the turn ends with an error that says so. The short form has
// half as much of each.
func TestRobust_HugeAnswer(t *testing.T) {
	t.Parallel()
	megabytes := testreq.Rounds(int64(10), 24)
	for _, tc := range testreq.Pick(2, []struct {
		name   string
		answer hugeAnswer
		fails  string
		grows  int64 // at most, in bytes
	}{
		{"arguments", hugeAnswer{
			head:  `{"tool_calls":[{"index":0,"id":"c","function":{"name":"write","arguments":"{\"path\":\"made\",\"content\":\""}}]}`,
			piece: `{"tool_calls":[{"index":0,"function":{"arguments":"%s"}}]}`, tail: `{}`,
		}, "the arguments of its tool calls are larger than 8 MiB", 100 << 20},
		{"text", hugeAnswer{head: `{}`, piece: `{"content":"%s"}`, tail: `{}`}, "", 11 * megabytes << 20},
		{"thought", hugeAnswer{head: `{}`, piece: `{"reasoning_content":"%s"}`, tail: `{"content":"end"}`}, "", 11 * megabytes << 20},
	}) {
		t.Run(tc.name, func(t *testing.T) {
			tc.answer.kilobytes = int(megabytes << 10)
			server := modeltest.New(t)
			server.Handle("/v1/chat/completions", tc.answer.ServeHTTP)
			agent := acptest.Start(t, acptest.Options{Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake"}, Unjudged: true})
			agent.Initialize("")
			session := agent.NewSession(t.TempDir())
			session.Prompt("/status").Ends("end_turn")
			idle := agent.Peak()
			turn := session.Prompt("go")
			if tc.fails != "" {
				turn.Fails(-32603, tc.fails)
			} else {
				turn.Ends("end_turn")
			}
			server.Handle("/v1/chat/completions", modeltest.New(t, modeltest.Step{Text: "And on."}).ServeHTTP)
			session.Prompt("next").Ends("end_turn")
			if text := session.Text(); !strings.HasSuffix(text, "And on.") {
				t.Errorf("the next turn said %.100q", text[max(0, len(text)-100):])
			}
			grown := agent.Peak() - idle
			t.Logf("the agent grew by %d MiB", grown>>20)
			if grown > tc.grows {
				t.Errorf("the agent grew by %d MiB, want at most %d", grown>>20, tc.grows>>20)
			}
		})
	}
}

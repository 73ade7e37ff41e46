//go:build !race

package protocol

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/modeltest"
	"acp-agent/internal/testkit/testreq"
)

// flood streams so many numbered kilobytes, as fast as they are taken.
type flood struct {
	kilobytes int
	sent      atomic.Int64 // in kilobytes
}

// filler makes a piece of a flood a kilobyte long: 8 digits, and this.
var filler = strings.Repeat(".", 1024-8)

func (f *flood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range f.kilobytes {
		event := fmt.Sprintf(`{"id":"1","object":"chat.completion.chunk","model":"fake","choices":[{"index":0,"delta":{"content":"%08d%s"},"finish_reason":null}]}`, i, filler)
		if _, err := io.WriteString(w, "data: "+event+"\n\n"); err != nil || r.Context().Err() != nil {
			return
		}
		f.sent.Store(int64(i + 1))
	}
	_, _ = io.WriteString(w, `data: {"id":"1","object":"chat.completion.chunk","model":"fake","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// TestRobust_StalledClient is R145, pain 33: a client stops reading for a while
// in the middle of 50 MB of text. The agent waits for it, and the model for the
// agent: nothing piles up, nothing is lost, the order holds. The short form has 20 MB of it.
func TestRobust_StalledClient(t *testing.T) {
	t.Parallel()
	megabytes, stall := testreq.Rounds(14, 50), testreq.Rounds(2*time.Second, 5*time.Second)
	model := &flood{kilobytes: megabytes << 10}
	server := modeltest.New(t)
	server.Handle("/v1/chat/completions", model.ServeHTTP)
	agent := acptest.Start(t, acptest.Options{Env: []string{"OPENAI_BASE_URL=" + server.URL, "OPENAI_MODEL=fake"}, Unjudged: true})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	session.Prompt("/status").Ends("end_turn")
	idle := agent.Peak()

	turn := session.Prompt("flood me")
	agent.Expect("text", acptest.Update("agent_message_chunk", "content.text", "00000000"))
	agent.Pause()
	time.Sleep(stall) // the stall is the point
	sent, stalled := model.sent.Load(), agent.Peak()
	agent.Resume()
	turn.Ends("end_turn")

	// What is in pipes and sockets, and what came before the pause.
	const inFlight = 10 << 10
	if sent > inFlight {
		t.Errorf("the model was let send %d kB while the client did not read", sent)
	}
	if grown := stalled - idle; grown > int64(acptest.Slack(64<<20)) {
		t.Errorf("the agent grew by %d MiB while the client did not read", grown>>20)
	}
	t.Logf("idle %d MiB, stalled %d MiB, at the end %d MiB; the model had sent %d kB", idle>>20, stalled>>20, agent.Peak()>>20, sent)
	text := session.Text()
	checkFlood(t, text[strings.Index(text, "00000000"):], model.kilobytes) // after the answer to /status
}

// checkFlood insists that every piece of a flood is there, once, in order.
func checkFlood(t *testing.T, text string, kilobytes int) {
	t.Helper()
	if len(text) != kilobytes<<10 {
		t.Errorf("%d bytes of text arrived, want %d", len(text), kilobytes<<10)
	}
	for i := 0; len(text) >= 1024; i++ {
		if text[:8] != fmt.Sprintf("%08d", i) || text[8:1024] != filler {
			t.Fatalf("piece %d is %.20q", i, text)
		}
		text = text[1024:]
	}
}

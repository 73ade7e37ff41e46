package session_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"acp-agent/model/openai"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// answering is a model server in memory: it has the model call a tool and then answer, in turns.
type answering struct{ asked atomic.Int64 }

// RoundTrip implements http.RoundTripper. It reads a request as a socket would.
func (a *answering) RoundTrip(r *http.Request) (*http.Response, error) {
	size, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return nil, err
	}
	delta := `{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]}`
	if a.asked.Add(1)%2 == 0 {
		delta = `{"content":"` + strings.Repeat("an answer ", 50) + `"}`
	}
	events := fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":%s}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":100}}\n\ndata: [DONE]\n\n", delta, size/4)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, Body: io.NopCloser(strings.NewReader(events)),
	}, nil
}

// BenchmarkTurn runs conversations of a hundred turns, each with a call whose result has 3 KB,
// and says what the agent itself takes for the second to the eleventh turn of them, and for the
// last ten: the second is to be at most 1.2 times the first.
func BenchmarkTurn(b *testing.B) {
	var early, late []time.Duration
	for b.Loop() {
		s, rec := inMemory(b)
		for n := range 111 {
			start := time.Now()
			turn := prompt(s, "what is in it?")
			if _, err := turn.Wait(b.Context()); err != nil {
				b.Fatal(err)
			}
			took := time.Since(start)
			turn.Release()
			rec.mu.Lock()
			rec.events = rec.events[:0]
			rec.mu.Unlock()
			switch {
			case n >= 1 && n <= 10:
				early = append(early, took)
			case n > 100:
				late = append(late, took)
			}
		}
	}
	slices.Sort(early)
	slices.Sort(late)
	second, hundredth := early[len(early)/2], late[len(late)/2]
	b.ReportMetric(float64(second.Microseconds()), "µs/turn2")
	b.ReportMetric(float64(hundredth.Microseconds()), "µs/turn100")
	b.ReportMetric(float64(hundredth)/float64(second), "turn100/turn2")
}

// inMemory opens a session whose model server is in memory.
func inMemory(b *testing.B) (*session.Session, *recorder) {
	b.Helper()
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		b.Fatal(err)
	}
	provider, err := openai.New(openai.Options{BaseURL: "http://127.0.0.1:1/v1", Transport: &answering{}, Window: map[string]int{"m": 1_000_000}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(provider.Close)
	host := &session.Host{
		Backend: func() (session.Backend, error) { return session.Backend{Provider: provider, Model: "m"}, nil },
		IDs:     &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(b.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) {
			return session.Settings{Limits: tools.CanonicalLimits()}, nil
		}},
		Privacy: session.Privacy{Secrets: func() []string { return nil }},
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(strings.Repeat("a line of the file\n", 150)), 0o600); err != nil {
		b.Fatal(err)
	}
	rec := newRecorder()
	s, err := host.Open(b.Context(), session.Spec{Cwd: dir, Client: session.Client{Sink: rec}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		s.Close(0)
		host.Close()
	})
	return s, rec
}

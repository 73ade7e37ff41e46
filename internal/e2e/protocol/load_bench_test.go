package protocol

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// BenchmarkLoad is session/load over the wire, in a process of its own each time: from the request
// to the first update and to the answer, and the most memory that the agent had. A turn has four
// parts: a prompt, a thought and an answer of 800 bytes, and a call whose result has as many.
// cpu-ms is what the agent used of the processors from its start to its end; one turn shows what
// of it is not the load's.
func BenchmarkLoad(b *testing.B) {
	for _, turns := range []int{1, 100, 1250, 2500, 5000} {
		b.Run(fmt.Sprintf("%d-turns", turns), func(b *testing.B) { benchmarkLoad(b, turns) })
	}
}

func benchmarkLoad(b *testing.B, turns int) {
	home, dir := b.TempDir(), b.TempDir()
	storeConversation(b, filepath.Join(home, "data", "acp-agent", "conversations"), dir, turns)
	var first, all, cpu time.Duration
	var peak int64
	updates := 0
	for b.Loop() {
		agent := acptest.Start(b, acptest.Options{Home: home, Env: []string{"XDG_DATA_HOME=" + filepath.Join(home, "data")}, Model: `{"say":"x"}`, Unjudged: true})
		agent.Initialize("")
		from := len(agent.Lines())
		asked := time.Now()
		agent.Request("session/load", map[string]any{"sessionId": "ses_x", "cwd": dir, "mcpServers": []any{}}).Result()
		lines := agent.Lines()[from:]
		updates = 0
		for _, l := range lines {
			switch {
			case l.Message == nil || !l.FromAgent:
			case l.Message.ID != nil:
				all += l.At.Sub(asked)
			default:
				if updates == 0 {
					first += l.At.Sub(asked)
				}
				updates++
			}
		}
		peak = agent.Peak()
		agent.Close()
		cpu += agent.CPU()
	}
	if updates < 4*turns {
		b.Fatalf("%d updates for %d turns", updates, turns)
	}
	n := float64(b.N)
	b.ReportMetric(first.Seconds()*1000/n, "ms-to-first")
	b.ReportMetric(all.Seconds()*1000/n, "ms-to-all")
	b.ReportMetric(cpu.Seconds()*1000/n, "cpu-ms")
	b.ReportMetric(float64(peak)/1e6, "MB-peak")
	b.ReportMetric(float64(updates), "updates")
}

// storeConversation stores a conversation of so many turns as session ses_x.
func storeConversation(b *testing.B, where, cwd string, turns int) {
	b.Helper()
	at := time.Now()
	r := store.New(store.Options{Dir: where}).Create(store.Info{ID: "ses_x", Cwd: cwd}, func(err error) { b.Error(err) })
	text := strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 18)
	for i := range turns {
		id := fmt.Sprint(i)
		r.Emit(transcript.TurnStarted{TurnID: "trn_" + id, At: at})
		prompt := &transcript.Message{ID: "msg_u" + id, Role: transcript.User, Created: at, Parts: []transcript.Part{&transcript.TextPart{ID: "prt_u" + id, Text: "Please look at file " + id + " and fix it."}}}
		r.Emit(transcript.UserSaid{Message: prompt})
		storeStep(r, "msg_a"+id, id, text)
		r.Emit(transcript.TurnFinished{TurnID: "trn_" + id, Reason: "finish"})
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// storeStep stores a thought, an answer and a call.
func storeStep(r *store.Recorder, step, id, text string) {
	r.Emit(transcript.StepStarted{MessageID: step, Model: "m", At: time.Now()})
	for _, kind := range []transcript.PartKind{transcript.ReasoningKind, transcript.TextKind} {
		part := fmt.Sprintf("prt_%s_%d", id, kind)
		r.Emit(transcript.PartStarted{MessageID: step, PartID: part, Kind: kind})
		r.Emit(transcript.PartDelta{PartID: part, Text: text})
		r.Emit(transcript.PartEnded{PartID: part})
	}
	card := kinds.Card{Kind: kinds.Read, Title: "Read main.go"}
	r.Emit(transcript.ToolStarted{MessageID: step, CallID: "call_" + id, Name: "read", Tool: "read"})
	r.Emit(transcript.ToolReady{CallID: "call_" + id, Tool: "read", Input: `{"path":"main.go"}`, Card: card})
	r.Emit(transcript.ToolState{CallID: "call_" + id, State: transcript.InProgress})
	card.Content = []kinds.Content{kinds.Text{Text: text}}
	r.Emit(transcript.ToolFinished{
		CallID: "call_" + id, State: transcript.Done, Card: card, Text: text,
		Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"lines":18}`)},
	})
	r.Emit(transcript.StepFinished{MessageID: step, Usage: &transcript.Usage{Input: 10, Output: 10}})
}

package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/redact"
	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// prose is text of about size bytes.
func prose(size int) string {
	const words = "The quick brown fox jumps over the lazy dog while func main() { return nil } stays as it was.\n"
	return strings.Repeat(words, size/len(words)+1)[:size]
}

// conversation records turns of a prompt, an answer, and a call that reads.
func conversation(r *store.Recorder, turns, size int) {
	text := prose(size)
	for i := range turns {
		id := fmt.Sprint(i)
		r.Emit(transcript.TurnStarted{TurnID: "trn_" + id, At: at})
		say(r, "msg_u"+id, "Please look at file "+id+" and fix it.")
		step := "msg_a" + id
		r.Emit(transcript.StepStarted{MessageID: step, Model: "m", At: at})
		r.Emit(transcript.PartStarted{MessageID: step, PartID: "prt_t" + id, Kind: transcript.ReasoningKind})
		r.Emit(transcript.PartDelta{PartID: "prt_t" + id, Text: text})
		r.Emit(transcript.PartEnded{PartID: "prt_t" + id})
		r.Emit(transcript.PartStarted{MessageID: step, PartID: "prt_a" + id})
		r.Emit(transcript.PartDelta{PartID: "prt_a" + id, Text: text})
		r.Emit(transcript.PartEnded{PartID: "prt_a" + id})
		call(r, step, "call_"+id, kinds.Read, text)
		r.Emit(transcript.StepFinished{MessageID: step, Usage: &transcript.Usage{Input: 10, Output: 10}})
		r.Emit(transcript.TurnFinished{TurnID: "trn_" + id, Reason: "finish"})
	}
}

func call(r *store.Recorder, step, id string, kind kinds.Kind, text string) {
	card := kinds.Card{Kind: kind, Title: "Read main.go", Locations: []kinds.Location{{Path: cwd + "/main.go", Line: 3}}}
	r.Emit(transcript.ToolStarted{MessageID: step, CallID: id, Name: "Read", Tool: "read"})
	r.Emit(transcript.ToolReady{CallID: id, Tool: "read", Input: `{"path":"main.go","start":1}`, Card: card})
	r.Emit(transcript.ToolState{CallID: id, State: transcript.InProgress})
	card.Content = []kinds.Content{kinds.Text{Text: text}}
	r.Emit(transcript.ToolFinished{
		CallID: id, State: transcript.Done, Card: card, Text: text,
		Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"path":"main.go","lines":20}`)},
	})
}

// BenchmarkLoad_10000Parts wants the first message within 100 ms, all within 600 ms, and less
// than 60 MB.
func BenchmarkLoad_10000Parts(b *testing.B) { benchmarkLoad(b, 2500, 800) }

// BenchmarkLoad_100Turns wants less than 20 ms.
func BenchmarkLoad_100Turns(b *testing.B) { benchmarkLoad(b, 100, 800) }

func benchmarkLoad(b *testing.B, turns, size int) {
	s := open(b)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(b))
	conversation(r, turns, size)
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	var first time.Duration
	var heap uint64
	defer reportCPU(b)()
	for b.Loop() {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		r, err := s.Open("ses_x", fail(b))
		if err != nil {
			b.Fatal(err)
		}
		shown := false
		snapshot, _, err := r.Resume(context.Background(), at, func(*transcript.Message) error {
			if !shown {
				first, shown = time.Since(start), true
			}
			return nil
		})
		runtime.ReadMemStats(&after)
		if err != nil || len(snapshot.Messages) != 2*turns {
			b.Fatal(len(snapshot.Messages), err)
		}
		heap = after.HeapAlloc - min(before.HeapAlloc, after.HeapAlloc)
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		runtime.KeepAlive(snapshot)
	}
	b.ReportMetric(float64(first.Microseconds())/1000, "ms-to-first")
	b.ReportMetric(float64(heap)/1e6, "MB")
}

// BenchmarkList_5000 wants less than 20 ms for the first page, also by a process that has just
// started.
func BenchmarkList_5000(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "sessions")
	copies(b, dir, 5000, 10_000)
	for _, bench := range []struct {
		name, cwd string
		cached    bool
	}{{"all, no cache", "", false}, {"all", "", true}, {"one directory", cwd, true}, {"one directory, no cache", cwd, false}} {
		b.Run(bench.name, func(b *testing.B) {
			defer reportCPU(b)()
			for b.Loop() {
				if !bench.cached {
					_ = os.Remove(filepath.Join(dir, "list.cache"))
				}
				page, err := store.New(store.Options{Dir: dir}).List(store.ListOptions{Cwd: bench.cwd})
				if err != nil || len(page.Sessions) != 50 {
					b.Fatal(len(page.Sessions), err)
				}
			}
		})
	}
}

// BenchmarkSearch_1GB wants less than 2 s on two cores for a text that is nowhere, with the page
// cache warm.
func BenchmarkSearch_1GB(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "sessions")
	size := copies(b, dir, 100, 10<<20)
	s := store.New(store.Options{Dir: dir})
	for _, text := range []string{"xylophone concerto", "Lazy Dog", "type"} {
		b.Run(text, func(b *testing.B) {
			b.SetBytes(size)
			defer reportCPU(b)()
			for b.Loop() {
				if _, err := s.Search(context.Background(), store.Query{Text: text}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// reportCPU reports the time of the processors that a benchmark used for one operation.
func reportCPU(b *testing.B) func() {
	before := cpuTime()
	return func() { b.ReportMetric(float64((cpuTime()-before).Microseconds())/1000/float64(b.N), "cpu-ms/op") }
}

// copies writes sessions of about the same size, and returns the size of all.
func copies(b *testing.B, dir string, sessions, size int) (total int64) {
	s := store.New(store.Options{Dir: dir})
	const turn = 6600 // bytes of a turn of conversation
	text := ""
	for i := range sessions {
		id := fmt.Sprintf("ses_%05d", i)
		if i == 0 {
			r := s.Create(store.Info{ID: id, Cwd: cwd, Title: "Fix the file"}, fail(b))
			conversation(r, max(1, size/turn), 800)
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, id+".jsonl"))
			if err != nil {
				b.Fatal(err)
			}
			text = string(data)
			continue
		}
		// The checksums are of another id: only what names the session is written anew.
		r := s.Create(store.Info{ID: id, Cwd: cwd, Title: "Fix the file"}, fail(b))
		say(r, "msg_1", "Fix it")
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
		head, err := os.ReadFile(filepath.Join(dir, id+".jsonl"))
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(text+string(head)), 0o600); err != nil {
			b.Fatal(err)
		}
		total += int64(len(text) + len(head))
	}
	return total
}

// BenchmarkTurn is what recording costs one turn of a prompt, an answer in 200 pieces, and a call.
func BenchmarkTurn(b *testing.B) {
	var values redact.Values
	values.Add("super-secret-value-12345")
	for _, bench := range []struct {
		name  string
		clean func(string) string
		kind  kinds.Kind
	}{{"reading", values.Text, kinds.Read}, {"editing", values.Text, kinds.Edit}, {"reading, no redaction", nil, kinds.Read}} {
		b.Run(bench.name, func(b *testing.B) {
			s := store.New(store.Options{Dir: filepath.Join(b.TempDir(), "sessions"), Clean: bench.clean})
			r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(b))
			text := prose(4000)
			defer reportCPU(b)()
			for i := 0; b.Loop(); i++ {
				id := fmt.Sprint(i)
				r.Emit(transcript.TurnStarted{TurnID: "trn_" + id, At: at})
				say(r, "msg_u"+id, "Please look at it.")
				step := "msg_a" + id
				r.Emit(transcript.StepStarted{MessageID: step, Model: "m", At: at})
				r.Emit(transcript.PartStarted{MessageID: step, PartID: "prt_" + id})
				for range 200 {
					r.Emit(transcript.PartDelta{PartID: "prt_" + id, Text: text[:20]})
				}
				r.Emit(transcript.PartEnded{PartID: "prt_" + id})
				call(r, step, "call_"+id, bench.kind, text)
				r.Emit(transcript.StepFinished{MessageID: step})
				r.Emit(transcript.TurnFinished{TurnID: "trn_" + id, Reason: "finish"})
			}
			if err := r.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkEmit is what each boundary costs.
func BenchmarkEmit(b *testing.B) {
	s := open(b)
	r := s.Create(store.Info{ID: "ses_x", Cwd: cwd}, fail(b))
	say(r, "msg_0", "begin")
	b.Run("written", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r.Emit(transcript.StepDropped{MessageID: "none"})
		}
	})
	b.Run("synced", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r.Emit(transcript.TurnFinished{Reason: "finish"})
		}
	})
	b.Run("delta", func(b *testing.B) {
		r.Emit(transcript.StepStarted{MessageID: "msg_1", At: at})
		r.Emit(transcript.PartStarted{MessageID: "msg_1", PartID: "p"})
		for b.Loop() {
			r.Emit(transcript.PartDelta{PartID: "p", Text: "some words of text "})
		}
		r.Emit(transcript.PartEnded{PartID: "p"})
	})
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

package export_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/export"
	"acp-agent/kinds"
	"acp-agent/store"
	"acp-agent/transcript"
)

// at is the time of the first event of the sample; each later one is a second on.
var at = time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC)

// dot is a picture of one pixel.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

const (
	cwd   = "/home/ann/src/shop"
	goOld = "package cart\n\nimport \"fmt\"\n\n// Total sums the prices.\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor i := 1; i < len(prices); i++ {\n\t\tsum += prices[i]\n\t}\n\treturn sum\n}\n\n// Print prints it.\nfunc Print(prices []int) {\n\tfmt.Println(Total(prices))\n}\n"
	goNew = "package cart\n\nimport \"fmt\"\n\n// Total sums all prices.\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor _, price := range prices {\n\t\tsum += price\n\t}\n\treturn sum\n}\n\n// Print prints it.\nfunc Print(prices []int) {\n\tfmt.Println(Total(prices))\n}\n"
)

// script feeds a recorder with the events of a session.
type script struct {
	emit func(transcript.Event)
	now  time.Time
	log  *transcript.Log
	ends []func() // of the calls of the step
}

func (s *script) do(events ...transcript.Event) {
	for _, e := range events {
		s.log.Apply(e)
		s.emit(e)
	}
}

func (s *script) tick() time.Time {
	s.now = s.now.Add(time.Second)
	return s.now
}

func (s *script) user(id string, parts ...transcript.Part) {
	s.do(transcript.TurnStarted{TurnID: "trn_" + id, At: s.tick()})
	s.do(transcript.UserSaid{Message: &transcript.Message{ID: id, Role: transcript.User, Created: s.now, Parts: parts}})
}

func (s *script) step(id string) {
	s.do(transcript.StepStarted{MessageID: id, Model: "example-large", Digest: strings.Repeat("3f2a91c0", 8), At: s.tick()})
}

func (s *script) say(step, part string, kind transcript.PartKind, text string) {
	s.do(transcript.PartStarted{MessageID: step, PartID: part, Kind: kind}, transcript.PartDelta{PartID: part, Text: text}, transcript.PartEnded{PartID: part})
}

func (s *script) stepDone(id string, u transcript.Usage) {
	s.do(transcript.StepFinished{MessageID: id, Usage: &u, Origin: "example"})
	for _, end := range s.ends {
		end()
	}
	s.ends = nil
}

// call makes a call, which runs when the step is done; what is between its start and its end may
// spawn.
func (s *script) call(step string, end transcript.ToolFinished, tool, input string, between func()) {
	s.do(transcript.ToolStarted{MessageID: step, CallID: end.CallID, Name: tool, Tool: tool, Card: end.Card})
	s.do(transcript.ToolReady{CallID: end.CallID, Tool: tool, Input: input, Card: end.Card})
	s.ends = append(s.ends, func() {
		s.do(transcript.ToolState{CallID: end.CallID, State: transcript.InProgress})
		if between != nil {
			between()
		}
		s.do(end)
	})
}

func output(text string) transcript.Envelope {
	data, _ := json.Marshal(text) // a text
	return transcript.Envelope{Type: transcript.Output, Data: data, Metadata: transcript.Metadata{DurationMS: 40}}
}

func text(id, text string) *transcript.TextPart { return &transcript.TextPart{ID: id, Text: text} }

// sample is a stored session with everything that a page shows.
func sample(t testing.TB) export.Conversation {
	t.Helper()
	s := store.New(store.Options{Dir: filepath.Join(t.TempDir(), "sessions"), Now: func() time.Time { return at }})
	t.Cleanup(func() { _ = s.Close() })
	r := s.Create(store.Info{ID: "ses_sample", Cwd: cwd, Mode: "code", Created: at}, func(err error) { t.Error(err) })
	play(&script{emit: r.Emit, now: at, log: transcript.NewLog()})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	st, err := s.Load("ses_sample")
	if err != nil {
		t.Fatal(err)
	}
	c := export.Of(st)
	c.Info.Updated = at.Add(time.Minute) // that of the file is the time of the test
	c.Price = func(_ string, u transcript.Usage) float64 { return float64(u.Total()) / 1e6 }
	c.Rules = []string{"allow bash go test *"}
	c.Decisions = map[string]export.Decision{
		"call_edit":   {Verdict: "allow", By: "person: allow_once"},
		"call_test":   {Verdict: "allow", By: "rule:project bash(go test *) .acp-agent/config.jsonc:4"},
		"call_delete": {Verdict: "deny", By: "person: reject_once", Reason: "the user rejected the call"},
	}
	return c
}

// play is the sample session.
func play(s *script) {
	s.do(transcript.TitleChanged{Title: "Fix the total of the cart", At: at})
	s.user("msg_1", text("prt_1", "The total leaves out the first price.\nPlease fix it, and run the tests."),
		&transcript.ImagePart{MediaType: "image/png", Data: dot},
		&transcript.LinkPart{URI: "file:///home/ann/src/shop/cart/cart.go", Name: "cart.go"},
		&transcript.ResourcePart{URI: "file:///home/ann/src/shop/NOTES.md", Text: "Prices are in cents.\n"},
		&transcript.TextPart{ID: "prt_1b", Text: "The directory has 12 files.", Synthetic: true})
	s.step("msg_2")
	s.say("msg_2", "prt_2", transcript.ReasoningKind, "The loop begins at 1, so that `prices[0]` is never added.")
	s.say("msg_2", "prt_3", transcript.TextKind, "The loop begins at **1**. I fix that:\n\n1. range over the prices\n2. run `go test ./...`\n\n> See [the tour](https://go.example/tour).\n")
	s.do(transcript.PlanChanged{Entries: []transcript.PlanEntry{
		{Content: "Fix Total", Priority: "high", Status: "completed"}, {Content: "Run the tests", Priority: "medium", Status: "in_progress"}, {Content: "Say what changed", Priority: "low", Status: "pending"},
	}})
	before := goOld
	s.call("msg_2", transcript.ToolFinished{
		CallID: "call_edit", State: transcript.Done, Text: "Edited cart/cart.go.", Result: output("Edited"),
		Card: kinds.Card{Kind: kinds.Edit, Title: "Edit cart/cart.go", Content: []kinds.Content{kinds.Diff{Path: cwd + "/cart/cart.go", Old: &before, New: goNew}}},
	}, "edit", `{"path":"cart/cart.go","old_str":"i := 1","new_str":"range"}`, nil)
	s.call("msg_2", transcript.ToolFinished{
		CallID: "call_test", State: transcript.Done, Text: "\x1b[32mok\x1b[0m  \tshop/cart\t0.012s\n\x1b[1;31mFAIL\x1b[0m\tshop/till [build failed]\n", Result: output("ok"),
		Card: kinds.Card{Kind: kinds.Execute, Title: "go test ./..."},
	}, "bash", `{"cmd":"go test ./..."}`, nil)
	s.stepDone("msg_2", transcript.Usage{Input: 1200, CacheRead: 8000, Output: 350, Reasoning: 90})
	s.step("msg_3")
	s.call("msg_3", transcript.ToolFinished{
		CallID: "call_task", State: transcript.Done, Text: "The till does not build: undefined: cart.Sum.", Result: output("done"),
		Card: kinds.Card{Kind: kinds.Think, Title: "explore: find why the till does not build"},
	}, "task", `{"agent":"explore","prompt":"Find why the till does not build."}`, func() { child(s) })
	s.call("msg_3", transcript.ToolFinished{
		CallID: "call_delete", State: transcript.Rejected, Text: "The user rejected the call.",
		Result: transcript.Envelope{Type: transcript.Error, ErrorText: "The user rejected the call.", Error: &transcript.ErrorDetail{Kind: "denied", DeniedBy: "user"}},
		Card:   kinds.Card{Kind: kinds.Delete, Title: "Delete till/till.go"},
	}, "delete_file", `{"path":"till/till.go"}`, nil)
	s.stepDone("msg_3", transcript.Usage{Input: 900, CacheRead: 9500, Output: 120})
	s.do(transcript.TurnFinished{TurnID: "trn_msg_1", Reason: "finish"})
	s.do(transcript.AgentSaid{Message: &transcript.Message{ID: "msg_4", Role: transcript.Assistant, Synthetic: true, Created: s.tick(), Parts: []transcript.Part{text("prt_4", "A subagent in the background has ended.")}}})
	s.do(transcript.Cleared{MessageID: "msg_5", At: s.tick()})
	s.do(transcript.Compacted{Message: &transcript.Message{
		ID: "msg_5b", Role: transcript.Assistant, Synthetic: true, Created: s.tick(), Parts: []transcript.Part{text("prt_5b", "The user wants the **total** fixed.")},
		Compaction: &transcript.Compaction{Summary: true, Before: 26800, After: 900},
	}})
	s.user("msg_6", text("prt_6", "What changed?"))
	s.step("msg_7")
	s.say("msg_7", "prt_7", transcript.TextKind, "| File | Change |\n| --- | --- |\n| `cart.go` | the loop |\n\n```go\nfor _, price := range prices {\n\tsum += price\n}\n```\n\n- [x] fixed\n- [ ] *not* committed\n  - nested\n")
	s.stepDone("msg_7", transcript.Usage{Input: 2500, CacheWrite: 4000, Output: 60})
	s.do(transcript.TurnFinished{TurnID: "trn_msg_6", Reason: "finish"})
}

// child is a subagent of the sample.
func child(s *script) {
	log := transcript.NewLog()
	record := transcript.ChildRecord{
		ID: "ses_child", ParentID: "ses_sample", ParentMessageID: "msg_3", CallID: "call_task", Agent: "explore", Path: []string{"explore"},
		Prompt: "Find why the till does not build.", Queued: s.now, Started: s.now, State: transcript.ChildRunning,
	}
	c := transcript.NewChild(record, log)
	s.do(transcript.ChildStarted{CallID: "call_task", Child: c})
	below := &script{now: s.now, log: log, emit: func(e transcript.Event) { s.emit(transcript.ChildEvent{CallID: "call_task", Event: e}) }}
	below.user("msg_c1", text("prt_c1", "Find why the till does not build."))
	below.step("msg_c2")
	below.say("msg_c2", "prt_c2", transcript.TextKind, "`till.go` calls cart.Sum, which nobody wrote.")
	below.call("msg_c2", transcript.ToolFinished{
		CallID: "call_grep", State: transcript.Done, Text: "till/till.go:9: cart.Sum(prices)", Result: output("1"),
		Card: kinds.Card{Kind: kinds.Search, Title: "grep cart.Sum"},
	}, "grep", `{"pattern":"cart\\.Sum"}`, nil)
	below.stepDone("msg_c2", transcript.Usage{Input: 700, Output: 40})
	c.Update(func(r *transcript.ChildRecord) {
		r.State, r.Ended, r.Steps, r.Calls = transcript.ChildDone, r.Started.Add(4*time.Second), 1, 1
		r.Usage, r.Cost, r.Output = transcript.Usage{Input: 700, Output: 40}, 0.0007, "The till does not build."
	})
	s.do(transcript.ChildFinished{CallID: "call_task", Child: c})
}

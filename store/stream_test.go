package store_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// at is the time of all that the tests make.
var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// records compares subagents by what is stored of them.
var records = cmp.Transformer("record", func(c *transcript.Child) transcript.ChildRecord {
	if c == nil {
		return transcript.ChildRecord{}
	}
	return c.Record()
})

// stream makes random but possible events of a session, and folds them as the session does.
type stream struct {
	rand *rand.Rand
	log  *transcript.Log
	emit func(transcript.Event)
	n    *int
	used map[string]bool // calls that spawned a subagent
	step string          // the open step
	open []string        // open text parts
	run  []string        // open calls that can go on
	root bool
	deep int
}

func newStream(seed uint64, emit func(transcript.Event)) *stream {
	return &stream{rand: rand.New(rand.NewPCG(seed, 1)), log: transcript.NewLog(), emit: emit, root: true, n: new(int), used: map[string]bool{}}
}

func (s *stream) id(prefix string) string {
	*s.n++
	return fmt.Sprintf("%s%d", prefix, *s.n)
}

func (s *stream) do(e transcript.Event) {
	s.log.Apply(e)
	s.emit(e)
}

func (s *stream) text() string {
	words := []string{"naïve ", "a<b>&c ", "\n", "\"quoted\" ", "word ", "\u2028", "`code` ", "\\ ", "密 "}
	text := ""
	for range s.rand.IntN(8) {
		text += words[s.rand.IntN(len(words))]
	}
	return text
}

func (s *stream) said() *transcript.Message {
	return &transcript.Message{ID: s.id("msg_"), Role: transcript.User, Created: at, Parts: []transcript.Part{
		&transcript.TextPart{ID: s.id("prt_"), Text: "do " + s.text()},
		&transcript.ImagePart{MediaType: "image/png", Data: "QUJD"},
		&transcript.LinkPart{URI: "file:///a", Name: "a"},
		&transcript.ResourcePart{URI: "file:///b", Text: s.text()},
	}}
}

// turn runs one whole turn.
func (s *stream) turn(steps int) {
	s.do(transcript.TurnStarted{TurnID: s.id("trn_"), At: at})
	prompt := s.said()
	s.do(transcript.UserSaid{Message: prompt})
	for range steps {
		s.oneStep()
	}
	for len(s.run) > 0 {
		s.endCall()
	}
	if s.rand.IntN(10) == 0 {
		s.do(transcript.TurnWithdrawn{MessageID: prompt.ID})
	}
	s.do(transcript.TurnFinished{Reason: "finish"})
	switch n := s.rand.IntN(12); {
	case n == 0 && s.root:
		s.do(transcript.Cleared{MessageID: s.id("msg_"), At: at})
	case n == 2:
		s.do(s.compacted())
	case n == 1:
		s.do(transcript.AgentSaid{Message: &transcript.Message{
			ID: s.id("msg_"), Role: transcript.Assistant, Synthetic: true, Created: at, Parts: []transcript.Part{&transcript.TextPart{Text: "ended"}},
		}})
	}
}

// compacted keeps some of the messages, and takes out the results of some calls.
func (s *stream) compacted() transcript.Compacted {
	c := &transcript.Compaction{Summary: s.rand.IntN(2) == 0, Before: 9, After: 3}
	for _, m := range s.log.Messages() {
		if s.rand.IntN(2) == 0 {
			c.Keep = append(c.Keep, m.ID)
		}
		for _, call := range m.Calls() {
			if s.rand.IntN(2) == 0 {
				c.Pruned = append(c.Pruned, call.CallID)
			}
		}
	}
	m := &transcript.Message{ID: s.id("msg_"), Role: transcript.Assistant, Created: at, Synthetic: true, Compaction: c}
	if c.Summary {
		m.Parts = []transcript.Part{&transcript.TextPart{Text: "in short: " + s.text(), Synthetic: true}}
	}
	return transcript.Compacted{Message: m}
}

func (s *stream) oneStep() {
	s.step = s.id("msg_")
	s.do(transcript.StepStarted{MessageID: s.step, Model: "m", Digest: "d", At: at})
	for range s.rand.IntN(12) {
		s.move()
	}
	for len(s.open) > 0 {
		s.endPart()
	}
	if s.rand.IntN(15) == 0 && len(s.run) == 0 {
		s.do(transcript.StepDropped{MessageID: s.step})
		return
	}
	s.do(transcript.StepFinished{MessageID: s.step, Usage: &transcript.Usage{Input: 3, Output: 4}, Origin: "o"})
	for len(s.run) > 0 && s.rand.IntN(4) > 0 {
		s.moveCall()
	}
	for len(s.run) > 0 {
		s.endCall()
	}
}

func (s *stream) move() {
	switch s.rand.IntN(9) {
	case 0, 1:
		kind, id := transcript.PartKind(s.rand.IntN(2)), s.id("prt_")
		s.do(transcript.PartStarted{MessageID: s.step, PartID: id, Kind: kind})
		s.open = append(s.open, id)
	case 2, 3, 4:
		if len(s.open) > 0 {
			s.do(transcript.PartDelta{PartID: s.open[s.rand.IntN(len(s.open))], Text: s.text()})
		}
	case 5:
		if len(s.open) > 0 {
			s.endPart()
		}
	case 6:
		id := s.id("call_")
		s.do(transcript.ToolStarted{MessageID: s.step, CallID: id, Name: "Edit", Tool: "edit_file"})
		s.do(transcript.ToolInput{CallID: id, Delta: `{"path":`})
		s.run = append(s.run, id)
		if s.rand.IntN(5) > 0 {
			kind := []kinds.Kind{kinds.Edit, kinds.Read}[s.rand.IntN(2)]
			s.do(transcript.ToolReady{CallID: id, Tool: "edit_file", Input: `{"path":"` + id + `"}`, Card: kinds.Card{Kind: kind, Title: s.text()}})
		}
	case 7:
		s.memory()
	case 8:
		if len(s.run) > 0 {
			s.moveCall()
		}
	}
}

func (s *stream) memory() {
	if !s.root {
		return
	}
	s.do([]transcript.Event{
		transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: s.text(), Status: "pending"}}},
		transcript.Counted{What: "web_search"},
		transcript.ToolsActivated{IDs: []string{s.id("tool")}},
		transcript.HostsNamed{Hosts: []string{s.id("host")}},
		transcript.TitleChanged{Title: "title"},
	}[s.rand.IntN(5)])
}

func (s *stream) endPart() {
	if s.rand.IntN(2) == 0 { // of a text it means nothing
		s.do(transcript.PartReplay{PartID: s.open[0], Data: json.RawMessage(`{"sig":"x"}`)})
	}
	s.do(transcript.PartEnded{PartID: s.open[0]})
	s.open = s.open[1:]
}

func (s *stream) moveCall() {
	id := s.run[s.rand.IntN(len(s.run))]
	switch s.rand.IntN(4) {
	case 0:
		s.do(transcript.ToolState{CallID: id, State: transcript.BlockedOnUser})
	case 1:
		if s.deep < 2 && !s.used[id] {
			s.used[id] = true
			s.subagent(id)
		}
	default:
		s.do(transcript.ToolState{CallID: id, State: transcript.InProgress})
	}
}

func (s *stream) endCall() {
	id := s.run[0]
	s.run = s.run[1:]
	old := "before"
	if s.rand.IntN(4) == 0 {
		s.do(transcript.ToolOutput{CallID: id, Text: s.text()})
		s.do(transcript.ToolOutput{CallID: id, Text: "more\n"})
		s.do(transcript.ToolFinished{CallID: id, State: transcript.Cancelled, Text: "cancelled"})
		return
	}
	s.do(transcript.ToolFinished{
		CallID: id, State: transcript.Done, Text: s.text(), Shown: s.text(),
		Card:   kinds.Card{Kind: kinds.Edit, Title: "Edit", Content: []kinds.Content{kinds.Diff{Path: "/a", Old: &old, New: s.text()}}},
		Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"ok":"<yes>"}`)},
		Images: []transcript.ImagePart{{MediaType: "image/png", Data: "QQ=="}},
	})
}

// subagent runs a subagent within a call that has none yet.
func (s *stream) subagent(call string) {
	log := transcript.NewLog()
	child := transcript.NewChild(transcript.ChildRecord{
		ID: s.id("ses_"), ParentID: "ses_x", CallID: call, Agent: "explore", Path: []string{"explore"}, Queued: at, State: transcript.ChildRunning,
		Inspectable: s.rand.IntN(4) == 0,
	}, log)
	s.do(transcript.ChildStarted{CallID: call, Child: child})
	below := &stream{rand: s.rand, log: log, deep: s.deep + 1, n: s.n, used: s.used, emit: func(e transcript.Event) {
		s.emit(transcript.ChildEvent{CallID: call, Event: e})
	}}
	below.turn(1 + s.rand.IntN(2))
	if s.rand.IntN(5) == 0 {
		return // it goes on
	}
	child.Update(func(r *transcript.ChildRecord) { r.State, r.Ended, r.Output = transcript.ChildDone, at, "found" })
	s.do(transcript.ChildFinished{CallID: call, Child: child})
}

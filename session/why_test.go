package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/mcp"
	"acp-agent/transcript"
)

// Each case puts the agent into one state of the tables, and reads what /why says of it. The
// events are 10 s apart.
func TestWhy_States(t *testing.T) {
	began := func(id, tool string, kind kinds.Kind, title string) transcript.Event {
		return transcript.ToolStarted{CallID: id, Tool: tool, Card: kinds.Card{Kind: kind, Title: title}}
	}
	state := func(id string, state transcript.State) transcript.Event {
		return transcript.ToolState{CallID: id, State: state, Reason: "edit asks by default"}
	}
	child := func(state transcript.ChildState, background bool) transcript.Event {
		return transcript.ChildStarted{CallID: "1", Child: transcript.NewChild(transcript.ChildRecord{
			Agent: "explore", Path: []string{"explore"}, State: state, Background: background, Queued: epoch, Ended: epoch.Add(3 * time.Second),
		}, nil)}
	}
	turn, asked, answered := transcript.TurnStarted{}, transcript.StepStarted{Model: "large"}, transcript.StepFinished{}
	tests := []struct {
		state  string
		events []transcript.Event
		want   string
	}{
		{"the model's first byte", []transcript.Event{turn, asked}, "- The agent waits for the model `large`: it was called 10s ago, and nothing of its answer has come."},
		{"the model's next byte", []transcript.Event{turn, asked, transcript.PartStarted{}, transcript.PartDelta{Text: "a"}}, "- The agent waits for the model `large`, which is answering: it was called 30s ago, and the last of its answer came 10s ago."},
		{"the model's next byte", []transcript.Event{turn, asked, began("1", "edit", kinds.Edit, "Edit"), transcript.ToolInput{CallID: "1"}}, "- The agent waits for the model `large`, which is answering: it was called 30s ago, and the last of its answer came 10s ago."},
		{"retry", []transcript.Event{turn, asked, answered, transcript.Notice{Title: loop.RetryTitle, Text: "slow down. Trying again in 20s."}}, "- The agent waits to call the model again. 10s ago: `slow down. Trying again in 20s.`."},
		{"the model's first byte", []transcript.Event{turn, asked, answered, transcript.Notice{Title: loop.RetryTitle, Text: "slow down"}, asked}, "- The agent waits for the model `large`: it was called 10s ago, and nothing of its answer has come."},
		{"compaction", []transcript.Event{turn, transcript.CompactionStarted{}}, "- The agent compacts the conversation, for 10s."},
		{"between steps", []transcript.Event{turn, transcript.CompactionStarted{}, transcript.CompactionFailed{}}, "- The agent is between two steps, and waits for nothing."},
		{"between steps", []transcript.Event{turn, asked, began("1", "read", kinds.Read, "Read"), answered, transcript.ToolFinished{CallID: "1"}}, "- The agent is between two steps, and waits for nothing."},
		{"permission", []transcript.Event{turn, asked, began("1", "edit", kinds.Edit, "Edit a"), answered, state("1", transcript.BlockedOnUser)}, "- The agent waits for 1 tool call.\n  - `Edit a`: waits for your permission, for 10s, because `edit asks by default`."},
		{"question", []transcript.Event{turn, asked, began("1", "question", kinds.Other, "Ask"), answered, state("1", transcript.InProgress)}, "- The agent waits for 1 tool call.\n  - `Ask`: waits for your answer to its questions, for 10s."},
		{"process", []transcript.Event{turn, asked, began("1", "bash", kinds.Execute, "make"), answered, state("1", transcript.InProgress)}, "- The agent waits for 1 tool call.\n  - `make`: its process runs, for 10s; it has printed nothing."},
		{"process", []transcript.Event{turn, asked, began("1", "bash", kinds.Execute, "make"), answered, state("1", transcript.InProgress), transcript.ToolOutput{CallID: "1", Text: "one\ntwo\nthr"}, transcript.ToolOutput{CallID: "1", Text: "ee\n"}}, "- The agent waits for 1 tool call.\n  - `make`: its process runs, for 30s; it last printed something 10s ago: `three`."},
		{"process", []transcript.Event{turn, asked, began("1", "bash", kinds.Execute, "make"), answered, state("1", transcript.InProgress), transcript.ToolTerminal{CallID: "1", TerminalID: "t"}}, "- The agent waits for 1 tool call.\n  - `make`: its process runs, for 20s; its terminal shows what it prints."},
		{"server", []transcript.Event{turn, asked, began("1", "mcp__files__list", kinds.Other, "List"), answered, state("1", transcript.InProgress)}, "- The agent waits for 1 tool call.\n  - `List`: waits for its MCP server, for 10s."},
		{"tool", []transcript.Event{turn, asked, began("1", "grep", kinds.Search, "Find a"), answered, state("1", transcript.InProgress)}, "- The agent waits for 1 tool call.\n  - `Find a`: runs, for 10s."},
		{"its turn", []transcript.Event{turn, asked, began("1", "edit", kinds.Edit, "Edit a"), began("2", "edit", kinds.Edit, "Edit b"), answered, state("1", transcript.InProgress)}, "- The agent waits for 2 tool calls.\n  - `Edit a`: runs, for 10s.\n  - `Edit b`: waits for the calls before it, for 30s."},
		{"a slot for the subagent", []transcript.Event{turn, asked, began("1", "task", kinds.Other, "Delegate"), answered, child(transcript.ChildQueued, false)}, "- The agent waits for 1 tool call.\n  - `Delegate`: waits until another subagent has ended, for 30s."},
		{
			"subagent",
			[]transcript.Event{turn, asked, began("1", "task", kinds.Other, "Delegate"), answered, child(transcript.ChildRunning, false), transcript.ChildEvent{CallID: "1", Event: transcript.StepStarted{Model: "small"}}},
			"- The agent waits for 1 tool call.\n  - `Delegate`: waits for the subagent `explore`, for 3s.\n    - The subagent waits for the model `small`: it was called 10s ago, and nothing of its answer has come.",
		},
		{
			"subagent",
			[]transcript.Event{turn, asked, began("1", "task", kinds.Other, "Delegate"), answered, child(transcript.ChildRunning, true), transcript.ToolFinished{CallID: "1", Background: true}, transcript.TurnFinished{}},
			"  - `Delegate`: goes on in the background with the subagent `explore`, for 3s.",
		},
		{"", []transcript.Event{turn, asked, began("1", "task", kinds.Other, "Delegate"), answered, transcript.ToolFinished{CallID: "1"}, transcript.TurnFinished{}}, ""},
		{"", nil, ""},
	}
	seen := map[string]bool{"preparation": true, "calls": true} // the next test, and all of calls
	for _, tt := range tests {
		seen[tt.state] = true
		now := epoch
		a := newActivity(func() time.Time { return now })
		for _, e := range tt.events {
			a.note(e)
			now = now.Add(10 * time.Second)
		}
		if got := strings.TrimSuffix(a.text(true), "\n"); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.state, got, tt.want)
		}
	}
	var names []string
	for _, r := range reasons() {
		names = append(names, r.name)
	}
	for _, r := range callReasons() {
		names = append(names, r.name)
	}
	for _, name := range names {
		if !seen[name] {
			t.Errorf("no case for the state %q", name)
		}
	}
	for name := range seen {
		if name != "" && !slices.Contains(names, name) {
			t.Errorf("there is no state %q", name)
		}
	}
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestWhy_Preparation(t *testing.T) {
	now := epoch
	a := newActivity(func() time.Time { return now })
	done := a.prepare("the sources of tools")
	now = now.Add(2 * time.Second)
	if got, want := a.text(true), "- The agent waits for the sources of tools, for 2s.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	done()
	if got := a.text(true); got != "" {
		t.Errorf("got %q after it", got)
	}
}

// A turn that only answers a command is not something that the session waits for.
func TestWhy_Command(t *testing.T) {
	a := newActivity(time.Now)
	a.note(transcript.TurnStarted{})
	if got := a.text(false); got != "" {
		t.Errorf("got %q", got)
	}
}

// Each case is one state of the session as a whole: a turn that runs or none, prompts that wait,
// questions in the chat, servers that have not answered.
func TestWhyText(t *testing.T) {
	turn := func() *Turn { return &Turn{done: make(chan struct{}), prompt: &transcript.Message{}} }
	command := turn()
	command.during = func(context.Context) (loop.StopReason, error) { return loop.EndTurn, nil }
	report := &Turn{done: make(chan struct{}), synthetic: &synthetic{}}
	const idle = "- The agent waits for nothing but your next message.\n"
	const betweenTurns = "- The agent is at the beginning or the end of a turn, and waits for nothing.\n"
	for _, tt := range []struct {
		name    string
		current *Turn
		queued  []*Turn
		events  []transcript.Event
		servers []mcp.Status
		queue   string
		want    string
	}{
		{name: "idle", want: idle},
		{name: "a command is answered", current: command, events: []transcript.Event{transcript.TurnStarted{}}, want: idle},
		{name: "a report is added", current: report, want: idle},
		{name: "a turn without events", current: turn(), want: betweenTurns},
		{name: "a turn between steps", current: turn(), events: []transcript.Event{transcript.TurnStarted{}}, want: "- The agent is between two steps, and waits for nothing.\n"},
		{name: "questions in the chat", events: []transcript.Event{transcript.ToolFinished{EndsTurn: true}}, want: "- The agent waits for your answer to its questions in the chat.\n"},
		{
			name: "servers that connect", servers: []mcp.Status{{Name: "fast", State: mcp.Ready}, {Name: "slow", State: mcp.Connecting}},
			want: idle + "- The MCP server `slow` has not answered yet.\n",
		},
		{name: "prompts that wait", current: turn(), queued: []*Turn{turn(), report, turn()}, want: betweenTurns + "- Queued after this turn: 2 prompts of yours.\n"},
		{
			name: "a prompt that goes into the turn", current: turn(), queued: []*Turn{turn()}, queue: queueSteer,
			want: betweenTurns + "- Queued until the tools that run have ended: 1 prompt of yours.\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := newTestConversation()
			for _, e := range tt.events {
				c.emit(e)
			}
			got := whyText(&turnQueue{current: tt.current, queued: tt.queued}, c, tt.servers, tt.queue)
			if want := "**What this session waits for**\n\n" + tt.want; got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

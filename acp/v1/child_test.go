package v1

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/schematest"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// within returns the Emit of the subagent that the last of the calls spawned.
func within(tr *translator, calls ...string) func(transcript.Event) {
	return func(e transcript.Event) {
		for _, call := range slices.Backward(calls) {
			e = transcript.ChildEvent{CallID: call, Event: e}
		}
		tr.Emit(e)
	}
}

// delegate starts a call that spawns a subagent with the last of the names.
func delegate(emit func(transcript.Event), call string, background bool, names ...string) *transcript.Child {
	name := names[len(names)-1]
	child := transcript.NewChild(transcript.ChildRecord{
		ID: "ses_" + name, CallID: call, Agent: name, Path: names, Prompt: "look", Background: background, State: transcript.ChildQueued,
	}, nil)
	emit(transcript.ToolStarted{MessageID: "msg_2", CallID: call, Name: "task", Tool: "task", Card: label("task")})
	emit(transcript.ToolReady{CallID: call, Tool: "task", Args: []byte(`{}`), Card: kinds.Card{Kind: kinds.Other, Title: name + ": look"}})
	emit(transcript.ToolState{CallID: call, State: transcript.InProgress})
	emit(transcript.ChildStarted{CallID: call, Child: child})
	return child
}

// endChild ends a subagent and its call.
func endChild(emit func(transcript.Event), child *transcript.Child, state transcript.ChildState) {
	child.Update(func(r *transcript.ChildRecord) { r.State, r.Note = state, "why" })
	call := child.Record().CallID
	card := kinds.Card{Kind: kinds.Other, Content: []kinds.Content{kinds.Text{Text: "it " + string(state)}}}
	emit(transcript.ChildFinished{CallID: call, Child: child, Card: card})
	if child.Record().Background {
		return
	}
	end := transcript.ToolFinished{CallID: call, State: transcript.Done, Card: card, Result: transcript.Envelope{Type: transcript.Output}}
	if state != transcript.ChildDone {
		end.State, end.Text, end.Result = transcript.Failed, "why", transcript.Envelope{Type: transcript.Error, ErrorText: "why"}
	}
	emit(end)
}

// accepted answers the call of a background subagent.
func accepted(emit func(transcript.Event), call string) {
	emit(transcript.ToolFinished{
		CallID: call, State: transcript.Done, Background: true, Text: "accepted",
		Result: transcript.Envelope{Type: transcript.Output, Data: json.RawMessage(`{"session_id":"ses_x"}`)},
	})
}

// The calls of subagents, however deep, are calls of the session: linked to the call that
// spawned their agent in every message, and named in the title (R70).
func TestChild_CallsLinked(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		explore := delegate(tr.Emit, "call_1", false, "explore")
		in1 := within(tr, "call_1")
		fix := delegate(in1, "call_2", false, "explore", "fix")
		in2 := within(tr, "call_1", "call_2")
		test := delegate(in2, "call_3", false, "explore", "fix", "test")
		in3 := within(tr, "call_1", "call_2", "call_3")
		r.take()
		card := kinds.Card{Kind: kinds.Edit, Title: "Edit b.go", Locations: []kinds.Location{{Path: "/w/b.go"}}}
		in3(transcript.ToolStarted{MessageID: "msg_9", CallID: "call_4", Name: "Edit", Tool: "edit", Card: label("edit")})
		in3(transcript.ToolReady{CallID: "call_4", Tool: "edit", Args: []byte(`{}`), Card: card})
		in3(transcript.ToolState{CallID: "call_4", State: transcript.InProgress})
		card.Content = []kinds.Content{kinds.Diff{Path: "/w/b.go", New: "c"}}
		in3(transcript.ToolFinished{CallID: "call_4", State: transcript.Done, Card: card, Result: transcript.Envelope{Type: transcript.Output}})
		const link = `"_meta":{"claudeCode":{"parentToolUseId":"call_3"}`
		want := []string{
			`{"sessionUpdate":"tool_call","toolCallId":"call_4","title":"explore › fix › test › Edit file","name":"Edit","kind":"edit","status":"pending",` + link + `,"tool_name":"Edit"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_4","title":"explore › fix › test › Edit b.go","locations":[{"path":"/w/b.go"}],"rawInput":{},` + link + `}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_4","status":"in_progress",` + link + `}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_4","status":"completed","content":[{"type":"diff","path":"/w/b.go","newText":"c"}],` +
				`"rawOutput":{"type":"output","metadata":{"duration_ms":0}},` + link + `}}`,
		}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates of the deepest call (-want +got):\n%s", diff)
		}
		endChild(in2, test, transcript.ChildDone)
		endChild(in1, fix, transcript.ChildDone)
		endChild(tr.Emit, explore, transcript.ChildDone)
		want = []string{
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_3","status":"completed","content":[{"type":"content","content":{"type":"text","text":"it done"}}],` +
				`"rawOutput":{"type":"output","metadata":{"duration_ms":0}},"_meta":{"claudeCode":{"parentToolUseId":"call_2"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_2","status":"completed","content":[{"type":"content","content":{"type":"text","text":"it done"}}],` +
				`"rawOutput":{"type":"output","metadata":{"duration_ms":0}},"_meta":{"claudeCode":{"parentToolUseId":"call_1"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","content":[{"type":"content","content":{"type":"text","text":"it done"}}],` +
				`"rawOutput":{"type":"output","metadata":{"duration_ms":0}}}`,
		}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("ends (-want +got):\n%s", diff)
		}
	})
}

// A subagent's command is shown like the agent's own. The title that labels a terminal shows the
// command alone; the title of the next update names the subagent.
func TestChild_Commands(t *testing.T) {
	const (
		link   = `"_meta":{"claudeCode":{"parentToolUseId":"call_0"}`
		opened = `{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"explore › make","name":"Bash","kind":"execute","status":"pending","rawInput":{"cmd":"make","cwd":"/w"},` + link + `,"tool_name":"Bash"}}`
		runs   = `{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"in_progress",` + link + `}}`
	)
	tests := []struct {
		name     string
		client   client
		terminal string
		want     []string
	}{
		{"as text", client{}, "", []string{
			opened, runs,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","content":[{"type":"content","content":{"type":"text","text":"` + "```console\\none\\n```" + `"}}],` + link + `}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed","rawOutput":{"type":"output","data":{"exit_code":0},"metadata":{"duration_ms":0}},` + link + `}}`,
		}},
		{"in a terminal of ours", agentTerminals, "", []string{
			`{"sessionUpdate":"tool_call","toolCallId":"call_1","title":"make","name":"Bash","kind":"execute","status":"pending","content":[{"type":"terminal","terminalId":"call_1"}],"rawInput":{"cmd":"make","cwd":"/w"},` +
				link + `,"terminal_info":{"cwd":"/w","terminal_id":"call_1"},"tool_name":"Bash"}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","title":"explore › make",` + link + `}}`,
			runs,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1",` + link + `,"terminal_output":{"data":"one\n","terminal_id":"call_1"}}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed",` + link + `,"terminal_exit":{"exit_code":0,"signal":null,"terminal_id":"call_1"}}}`,
		}},
		{"in a terminal of the editor's", client{terminals: true}, "term_7", []string{
			opened, runs,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","content":[{"type":"terminal","terminalId":"term_7"}],` + link + `}}`,
			`{"sessionUpdate":"tool_call_update","toolCallId":"call_1","status":"completed",` + link + `}}`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inTurn(t, test.client, func(t *testing.T, tr *translator, r *recorder) {
				delegate(tr.Emit, "call_0", false, "explore")
				r.take()
				emit := within(tr, "call_0")
				startBash(emit)
				if test.terminal != "" {
					emit(transcript.ToolTerminal{CallID: "call_1", TerminalID: test.terminal})
				}
				emit(transcript.ToolOutput{CallID: "call_1", Text: "one\n"})
				endBash(emit, transcript.Done, "one\n", `{"exit_code":0}`)
				if diff := cmp.Diff(test.want, r.lines()); diff != "" {
					t.Errorf("updates (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The text, plan and usage of a subagent are not sent as the main agent's, the end of its turn
// ends nothing of the main agent, and its warnings carry its name.
func TestChild_Text(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		child := delegate(tr.Emit, "call_1", false, "explore")
		r.take()
		emit := within(tr, "call_1")
		for _, e := range []transcript.Event{
			transcript.TurnStarted{TurnID: "trn_2", MessageID: "msg_3"},
			transcript.UserSaid{Message: &transcript.Message{ID: "msg_3", Parts: []transcript.Part{&transcript.TextPart{Text: "look"}}}},
			transcript.StepStarted{MessageID: "msg_4"},
			transcript.PartStarted{MessageID: "msg_4", PartID: "prt_4", Kind: transcript.TextKind},
			transcript.PartDelta{PartID: "prt_4", Text: "words"},
			transcript.PartEnded{PartID: "prt_4"},
			transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: "c", Priority: "high", Status: "pending"}}},
			transcript.UsageChanged{Used: 1, Size: 2},
			transcript.TitleChanged{Title: "t"},
			transcript.AgentSaid{Message: &transcript.Message{ID: "msg_5", Parts: []transcript.Part{&transcript.TextPart{Text: "done"}}}},
			transcript.TurnFinished{TurnID: "trn_2", Reason: "finish"},
		} {
			emit(e)
		}
		time.Sleep(time.Second)
		if got := r.lines(); got != nil {
			t.Errorf("updates: %q", got)
		}
		emit(transcript.Notice{Severity: transcript.Warning, Title: "Retrying", Text: "once more"})
		endChild(tr.Emit, child, transcript.ChildDone)
		got := r.lines()
		want := quoted("explore › once more")
		if len(got) != 2 || got[0] != want || !strings.Contains(got[1], `"status":"completed"`) {
			t.Errorf("updates: %q", got)
		}
	})
}

// A message of the agent is sent at once, after the text before it.
func TestTranslator_AgentSaid(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		startText(tr)
		say(tr, "a")
		say(tr, "b")
		tr.Emit(transcript.AgentSaid{Message: &transcript.Message{ID: "msg_7", Synthetic: true, Parts: []transcript.Part{&transcript.TextPart{Text: "explore is done"}}}})
		want := []string{
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"},"messageId":"msg_2"}`,
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b"},"messageId":"msg_2"}`,
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\n\nexplore is done"},"messageId":"msg_7"}`,
		}
		if diff := cmp.Diff(want, r.lines()); diff != "" {
			t.Errorf("updates (-want +got):\n%s", diff)
		}
	})
}

// A live card is sent at once and then at most every 250 ms; the last content is always sent,
// and nothing after the end.
func TestChild_CardPaced(t *testing.T) {
	inTurn(t, client{}, func(t *testing.T, tr *translator, r *recorder) {
		child := delegate(tr.Emit, "call_1", false, "explore")
		r.take()
		start := time.Since(r.start)
		for i := range 100 {
			tr.Emit(transcript.ToolCard{CallID: "call_1", Content: []kinds.Content{kinds.Text{Text: fmt.Sprintf("at %d", i)}}})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		type shown struct {
			At   time.Duration
			Last bool
		}
		var got []shown
		for _, n := range r.take() {
			got = append(got, shown{n.at - start, strings.Contains(n.json, `"at 99"`)})
		}
		want := []shown{{0, false}, {cardInterval, false}, {2 * cardInterval, false}, {3 * cardInterval, false}, {4 * cardInterval, true}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("cards (-want +got):\n%s", diff)
		}
		tr.Emit(transcript.ToolCard{CallID: "call_1", Content: []kinds.Content{kinds.Text{Text: "one"}}})
		tr.Emit(transcript.ToolCard{CallID: "call_1", Content: []kinds.Content{kinds.Text{Text: "two"}}})
		tr.Emit(transcript.ChildFinished{CallID: "call_1", Child: child})
		tr.Emit(transcript.ToolCard{CallID: "call_1", Content: []kinds.Content{kinds.Text{Text: "late"}}})
		time.Sleep(time.Second)
		endChild(tr.Emit, child, transcript.ChildDone)
		tr.Emit(transcript.ToolCard{CallID: "call_1", Content: []kinds.Content{kinds.Text{Text: "three"}}})
		time.Sleep(time.Second)
		if lines := r.lines(); len(lines) != 2 || !strings.Contains(lines[0], "one") || !strings.Contains(lines[1], "it done") {
			t.Errorf("around the end: %q", lines)
		}
	})
}

// With several subagents at once, every call ends once, linked to its own parent.
func TestChild_AtOnce(t *testing.T) {
	inTurn(t, agentTerminals, func(t *testing.T, tr *translator, r *recorder) {
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				call := fmt.Sprintf("call_p%d", i)
				child := delegate(tr.Emit, call, i%2 == 0, fmt.Sprintf("agent%d", i))
				emit := within(tr, call)
				for n := range 50 {
					id := fmt.Sprintf("call_%d_%d", i, n)
					emit(transcript.ToolStarted{MessageID: "m", CallID: id, Name: "read", Tool: "read", Card: label("read")})
					tr.Emit(transcript.ToolCard{CallID: call, Content: []kinds.Content{kinds.Text{Text: id}}})
					emit(transcript.ToolFinished{CallID: id, State: transcript.Done, Text: "x", Result: transcript.Envelope{Type: transcript.Output}})
				}
				if i%2 == 0 {
					accepted(tr.Emit, call)
				}
				endChild(tr.Emit, child, transcript.ChildDone)
			})
		}
		group.Wait()
		ends := map[string]int{}
		for _, n := range r.take() {
			var update struct {
				ID     string `json:"toolCallId"`
				Status string
				Meta   struct {
					ClaudeCode struct{ ParentToolUseID string }
				} `json:"_meta"`
			}
			if err := json.Unmarshal([]byte(n.json), &update); err != nil {
				t.Fatal(err)
			}
			if update.Status == "completed" {
				ends[update.ID]++
			}
			var i, k int
			if n, _ := fmt.Sscanf(update.ID, "call_%d_%d", &i, &k); n == 2 && update.Meta.ClaudeCode.ParentToolUseID != fmt.Sprintf("call_p%d", i) {
				t.Errorf("%s has the parent %q", update.ID, update.Meta.ClaudeCode.ParentToolUseID)
			}
		}
		if len(ends) != 8*51 {
			t.Errorf("%d calls ended", len(ends))
		}
		for id, n := range ends {
			if n != 1 {
				t.Errorf("%s ended %d times", id, n)
			}
		}
	})
}

// Every message about subagents fits the official schema, or the unstable one if the client
// asked for a draft.
func TestChild_FitsSchema(t *testing.T) {
	for name, c := range map[string]client{
		"plain": {}, "with terminals of ours": agentTerminals, "with sessions of subagents": {subagents: true, notices: true},
	} {
		t.Run(name, func(t *testing.T) {
			v := schematest.Open(t)
			if c.subagents {
				v.AllowDrafts()
			}
			inTurn(t, c, func(t *testing.T, tr *translator, r *recorder) {
				r.also = []string{"ses_explore", "ses_fix"}
				explore := delegate(tr.Emit, "call_7", true, "explore")
				accepted(tr.Emit, "call_7")
				in1 := within(tr, "call_7")
				in1(transcript.UserSaid{Message: &transcript.Message{ID: "msg_3", Parts: []transcript.Part{&transcript.TextPart{Text: "look"}}}})
				in1(transcript.StepStarted{MessageID: "msg_4"})
				in1(transcript.PartStarted{MessageID: "msg_4", PartID: "prt_4"})
				in1(transcript.PartDelta{PartID: "prt_4", Text: "words"})
				in1(transcript.PlanChanged{Entries: []transcript.PlanEntry{{Content: "c", Priority: "high", Status: "pending"}}})
				in1(transcript.Notice{Severity: transcript.Info, Title: "T", Text: "x"})
				fix := delegate(in1, "call_8", false, "explore", "fix")
				startBash(within(tr, "call_7", "call_8"))
				within(tr, "call_7", "call_8")(transcript.ToolState{CallID: "call_1", State: transcript.BlockedOnUser})
				within(tr, "call_7", "call_8")(transcript.ToolOutput{CallID: "call_1", Text: "a"})
				endBash(within(tr, "call_7", "call_8"), transcript.Failed, "no", `{}`)
				tr.Emit(transcript.ToolCard{CallID: "call_7", Content: []kinds.Content{kinds.Text{Text: "live"}}})
				endChild(in1, fix, transcript.ChildFailed)
				endChild(tr.Emit, explore, transcript.ChildDone)
				updates := r.take()
				for _, n := range updates {
					line := fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":%s}}`, n.session, n.json)
					if err := v.Message(schematest.ToClient, []byte(line)); err != nil {
						t.Error(err)
					}
					if draft := strings.Contains(n.json, `"subagent_update"`) || n.session != "ses_1"; draft && !c.subagents {
						t.Errorf("a draft that the client did not ask for: %s", line)
					}
				}
				if len(updates) < 12 {
					t.Errorf("%d updates", len(updates))
				}
			})
		})
	}
}

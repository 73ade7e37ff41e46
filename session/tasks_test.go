package session_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/loop"
	"acp-agent/model/script"
	"acp-agent/session"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/transcript"
)

// openFamily opens a session with the shipped subagents.
func openFamily(t *testing.T, model string) (*session.Session, *recorder) {
	t.Helper()
	loaded, err := script.Load("test", strings.NewReader(model))
	if err != nil {
		t.Fatal(err)
	}
	registry, err := tools.NewRegistry(builtin.All()...)
	if err != nil {
		t.Fatal(err)
	}
	provider := loaded.Provider(script.Options{})
	host := &session.Host{
		Backend: func() (session.Backend, error) { return session.Backend{Provider: provider, Model: "script"}, nil },
		IDs:     &transcript.IDs{}, Toolset: session.Toolset{Registry: registry}, Agents: session.Agents{Manifest: subagent.Main()},
		Machine: session.Machine{StateDir: filepath.Join(t.TempDir(), "state")},
		Configuration: session.Configuration{Configure: func(string) (session.Settings, error) {
			return session.Settings{Limits: tools.CanonicalLimits(), Subagents: session.Subagents{Depth: 5, Running: 8}}, nil
		}},
		Privacy: session.Privacy{Secrets: func() []string { return nil }},
	}
	rec := newRecorder()
	opened, err := host.Open(t.Context(), session.Spec{Cwd: t.TempDir(), Client: session.Client{Sink: rec}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		opened.Close(0)
		host.Close()
	})
	return opened, rec
}

// announced fits a message that the agent itself put in.
func announced(text string) func(transcript.Event) bool {
	return func(e transcript.Event) bool {
		said, ok := e.(transcript.AgentSaid)
		return ok && strings.Contains(said.Message.Typed(), text)
	}
}

// turns counts the turns that began and the turns that ended.
func turns(events []transcript.Event) (began, ended int) {
	for _, e := range events {
		switch e.(type) {
		case transcript.TurnStarted:
			began++
		case transcript.TurnFinished:
			ended++
		}
	}
	return began, ended
}

// A command that looks is answered beside the turn that runs: with one event, before the
// prompts that wait, and without a turn whose end could be taken for that of the other.
// Whatever else is a command waits for its turn, and neither is in the conversation.
func TestPrompt_Beside(t *testing.T) {
	s, rec := openFamily(t, waiting+`{"expect": {"messages": 3}, "say": "after"}`)
	running := prompt(s, "go")
	rec.await(t, "text", said("waiting"))
	queued, help := prompt(s, "next"), prompt(s, "/help")
	for _, command := range []string{"/tasks", " /status\n", "/tasks stop all"} {
		wait(t, prompt(s, command), loop.EndTurn)
	}
	for _, text := range []string{"No subagents were started", "Model: `script`", "No subagent is running"} {
		if !slices.ContainsFunc(rec.all(), announced(text)) {
			t.Errorf("nothing says %q", text)
		}
	}
	if began, ended := turns(rec.all()); began != 1 || ended != 0 {
		t.Errorf("%d turns began and %d ended, want 1 and 0", began, ended)
	}
	s.Cancel()
	wait(t, running, loop.Cancelled)
	wait(t, queued, loop.EndTurn)
	wait(t, help, loop.EndTurn)
	if !strings.Contains(rec.text(), "after") || !strings.Contains(rec.text(), "**Commands**") {
		t.Errorf("said %q", rec.text())
	}
}

// With no turn running such a command is a turn like any other.
func TestPrompt_NothingToStandBeside(t *testing.T) {
	s, rec := openFamily(t, `{"say": "never"}`)
	wait(t, prompt(s, "/tasks"), loop.EndTurn)
	if began, ended := turns(rec.all()); began != 1 || ended != 1 || !strings.Contains(rec.text(), "No subagents") {
		t.Errorf("%d turns began and %d ended; said %q", began, ended, rec.text())
	}
}

// When the session ends, what was asked beside the turn before is answered, and what comes
// later is not.
func TestPrompt_BesideAtTheEnd(t *testing.T) {
	s, rec := openFamily(t, waiting)
	running := prompt(s, "go")
	rec.await(t, "text", said("waiting"))
	beside := prompt(s, "/tasks")
	s.Stop()
	late := prompt(s, "/tasks")
	wait(t, beside, loop.EndTurn)
	wait(t, late, loop.Cancelled)
	wait(t, running, loop.Cancelled)
}

const inBackground = `{"when": "^go$", "call": [{"name": "task", "args": {"subagent_type": "general", "prompt": "nest", "background": true}}]}
{"say": "begun"}
{"when": "^nest$", "call": [{"name": "task", "args": {"subagent_type": "explore", "prompt": "look", "background": true}}]}
{"say": "nested"}
`

// Rest returns when every subagent has ended and what they report is said, also of one
// that another had started.
func TestRest(t *testing.T) {
	s, rec := openFamily(t, inBackground+`{"when": "^look$", "pause_ms": 20, "chunk": 1, "say": "looked"}`)
	wait(t, prompt(s, "go"), loop.EndTurn)
	s.Rest(t.Context())
	for _, r := range s.Tasks() {
		if !r.State.Terminal() {
			t.Errorf("%v is %s", r.Path, r.State)
		}
	}
	if len(s.Tasks()) != 2 || !slices.ContainsFunc(rec.all(), announced("`general` has finished")) {
		t.Errorf("%d subagents; the end of the first was not told", len(s.Tasks()))
	}
}

// Rest does not outlast its context.
func TestRest_GivesUp(t *testing.T) {
	s, _ := openFamily(t, inBackground+`{"when": "^look$", "wait": "for ever"}`)
	wait(t, prompt(s, "go"), loop.EndTurn)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Rest(ctx)
	if states := s.Tasks(); !slices.ContainsFunc(states, func(r transcript.ChildRecord) bool { return !r.State.Terminal() }) {
		t.Error("Rest has waited for a subagent that never ends, or ended it")
	}
}

// A subagent is stopped by its id as well as by its number, which stays the same however
// many end; of the ended ones the last are listed.
func TestTasks_Command(t *testing.T) {
	const many = 25
	var model strings.Builder
	model.WriteString(`{"when": "^go$", "call": [`)
	for range many {
		model.WriteString(`{"name": "task", "args": {"subagent_type": "explore", "prompt": "look"}}, `)
	}
	model.WriteString(`{"name": "task", "args": {"subagent_type": "explore", "prompt": "stay", "background": true}}]}
{"say": "begun"}
{"when": "^look$", "say": "seen", "repeat": -1}
{"when": "^stay$", "wait": "for the person"}
`)
	s, rec := openFamily(t, model.String())
	wait(t, prompt(s, "go"), loop.EndTurn)
	ask := func(command string) string {
		t.Helper()
		before := rec.text()
		wait(t, prompt(s, command), loop.EndTurn)
		return strings.TrimPrefix(rec.text(), before)
	}
	staying := slices.IndexFunc(s.Tasks(), func(r transcript.ChildRecord) bool { return r.Prompt == "stay" })
	number, id := fmt.Sprint(staying+1), s.Tasks()[staying].ID
	list := ask("/tasks")
	if !strings.Contains(list, "1 running or waiting, 25 ended") || !strings.Contains(list, "- **"+number+"** `explore` ") || !strings.Contains(list, ", in the background (`"+id+"`)") {
		t.Errorf("the list is\n%s", list)
	}
	if got := strings.Count(list, "`explore` done"); got != 20 {
		t.Errorf("%d that have ended are listed, want 20", got)
	}
	for _, tt := range []struct{ command, want string }{
		{"/tasks stop ses_unknown", "There is no subagent `ses_unknown`"},
		{"/tasks stop -1", "There is no subagent `-1`"},
		{"/tasks stop", "After it may follow"},
		{"/tasks stop 1 2", "After it may follow"},
		{"/tasks stop " + id, "Stopped subagent " + number + ", `explore`"},
	} {
		if got := ask(tt.command); !strings.Contains(got, tt.want) {
			t.Errorf("%s says %q, want %q", tt.command, got, tt.want)
		}
	}
	s.Rest(t.Context())
	if got := ask("/tasks stop " + number); !strings.Contains(got, "has ended already") {
		t.Errorf("one that was stopped is said to be %q", got)
	}
	if state := s.Tasks()[staying].State; state != transcript.ChildCancelled {
		t.Errorf("it is %s", state)
	}
}

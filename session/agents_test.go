package session_test

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/loop"
	"acp-agent/session"
	"acp-agent/transcript"
)

// R64: what an agent's manifest has come to deny binds those below it, though their own
// manifests are the same as before.
func TestAgents_AChangedManifestBindsThoseBelow(t *testing.T) {
	const outer = "---\nname: outer\ndescription: Delegates.\ntools: [task, read]\npermissions: {level: inherit, deny: [DENIED]}\n---\nYou are outer.\n"
	g := newGround(t)
	g.settings.Subagents = session.Subagents{Depth: 5, Running: 8}
	g.put("a.txt", "the text")
	g.put(".agents/agents/outer.md", strings.ReplaceAll(outer, "DENIED", `"read(**/other.txt)"`))
	s, rec := g.open(`{"when":"^go$","call":[{"name":"task","args":{"subagent_type":"outer","prompt":"outer"}}]}
{"say":"done"}
{"when":"^outer$","call":[{"name":"task","args":{"subagent_type":"explore","prompt":"inner"}}]}
{"say":"done"}
{"when":"^inner$","call":[{"name":"read","args":{"path":"a.txt"}}]}
{"say":"done"}
`)
	read := func() (states []transcript.State) {
		t.Helper()
		wait(t, prompt(s, "/trust"), loop.EndTurn)
		wait(t, prompt(s, "go"), loop.EndTurn)
		rec.mu.Lock()
		defer rec.mu.Unlock()
		for _, e := range rec.events {
			if end, ok := innermost(e).(transcript.ToolFinished); ok && end.Card.Kind == "read" {
				states = append(states, end.State)
			}
		}
		return states
	}
	if states := read(); len(states) != 1 || states[0] != transcript.Done {
		t.Fatalf("at first, what the inner one read ended as %v", states)
	}
	g.put(".agents/agents/outer.md", strings.ReplaceAll(outer, "DENIED", `"read(**/a.txt)"`))
	if states := read(); len(states) != 2 || states[1] != transcript.Rejected {
		t.Errorf("once the outer one may not read it, what the inner one read ended as %v", states)
	}
}

// innermost is an event without what says whose it is.
func innermost(e transcript.Event) transcript.Event {
	for {
		child, ok := e.(transcript.ChildEvent)
		if !ok {
			return e
		}
		e = child.Event
	}
}

// R67, R153: a cancel that comes while the turn says what runs on is the turn's, and ends
// what it has just named.
func TestCancel_WhileTheTurnEnds(t *testing.T) {
	hold, begun, _ := holding()
	s, rec, _ := delegating(t, spawnScene+childScene, nil, hold)
	rec.onEvent = func(e transcript.Event) {
		if said("Still running in the background")(e) {
			<-begun
			s.Cancel()
		}
	}
	turn := prompt(s, "spawn")
	stop, err := turn.Wait(t.Context())
	if stop != loop.Cancelled || err != nil {
		t.Errorf("the turn ended as %s, %v", stop, err)
	}
	if !slices.ContainsFunc(rec.all(), childEnded) {
		t.Error("it ended before the subagent")
	}
	turn.Release()
}

// A command that is answered beside a turn and fails inside ends its own prompt alone.
func TestBeside_Panic(t *testing.T) {
	hold, begun, release := holding()
	s, rec, _ := delegating(t, `{"when":"^go$","call":[{"name":"hold","args":{}}]}`+"\n"+`{"say":"Done."}`+"\n", nil, hold)
	turn := prompt(s, "go")
	<-begun
	rec.onEvent = func(e transcript.Event) {
		if reported("")(e) {
			panic("oh")
		}
	}
	beside := prompt(s, "/tasks")
	if _, err := beside.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "failed inside the agent: oh") {
		t.Errorf("the command ended with %v", err)
	}
	beside.Release()
	close(release)
	wait(t, turn, loop.EndTurn)
}

package subagent_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/record"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// A replay lists the subagents as the recording has them: whether one has started depends on the machine.
func TestNode_TasksReplayed(t *testing.T) {
	want := []transcript.ChildRecord{{ID: "ses_a", Agent: "general", Path: []string{"general"}, State: transcript.ChildRunning, Calls: 2}}
	seen, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	player := record.NewPlayer(&record.Recording{Entries: []record.Entry{{Kind: record.Looked, Name: "tasks", Key: "ses_main", Data: seen}}})
	b := newHarness(t, setup{edit: func(o *subagent.Options) { o.Tape = record.PlayFrom(player) }})
	if diff := cmp.Diff(want, b.root.Tasks()); diff != "" {
		t.Errorf("the subagents (-want +got):\n%s", diff)
	}
}

// A replay begins as many steps of a subagent as the recording has, also when the user's stop comes earlier or later.
func TestNode_StoppedAsRecorded(t *testing.T) {
	sum := sha256.Sum256([]byte("general\nlook"))
	cancelled := func(data string) record.Entry {
		return record.Entry{Kind: record.Looked, Name: "cancelled subagent", Key: "ses_main " + hex.EncodeToString(sum[:8]), Data: json.RawMessage(data)}
	}
	for _, test := range []struct {
		name    string
		entries []record.Entry
		steps   int
	}{
		{"before its first step", []record.Entry{cancelled("false"), cancelled("true")}, 0},
		{"before its second step", []record.Entry{cancelled("false"), cancelled("false"), cancelled("true")}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			player := record.NewPlayer(&record.Recording{Entries: test.entries})
			text := scene("go", "I go on.", calls(task("general", "look", true))) + scene("look", "Seen.", calls(call("hold")))
			release := make(chan struct{})
			close(release)
			b := newHarness(t, setup{
				script: text, tools: []tools.Tool{held(make(chan struct{}, 1), release)},
				edit: func(o *subagent.Options) { o.Tape = record.PlayFrom(player) },
			})
			b.turn(t.Context(), "go")
			if err := player.Await(t.Context(), len(test.entries)); err != nil {
				t.Fatal(err)
			}
			b.tree.Abort()
			b.await("end of the subagent", func() bool { return b.tree.ActiveCount() == 0 })
			if r := b.records()["look"]; r.Steps != test.steps || r.State != transcript.ChildCancelled {
				t.Errorf("it is %s after %d steps, want %d", r.State, r.Steps, test.steps)
			}
		})
	}
}

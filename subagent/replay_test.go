package subagent_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/record"
	"acp-agent/subagent"
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

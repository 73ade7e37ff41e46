package subagent_test

import (
	"runtime"
	"testing"

	"acp-agent/subagent"
	"acp-agent/transcript"
)

// The tree keeps only the record of an ended subagent.
func TestTree_KeepsOnlyRecords(t *testing.T) {
	freed := make(chan struct{}, 100)
	b := newHarness(t, setup{script: `{"say":"hello"}`, equip: func(n *subagent.Node, e *subagent.Equipment) error {
		runtime.AddCleanup(n, func(int) { freed <- struct{}{} }, 0)
		runtime.AddCleanup(e.Tools, func(int) { freed <- struct{}{} }, 0)
		return nil
	}})
	const ended = 20
	for range ended {
		if _, err := b.spawn(t.Context(), "general", "x", false); err != nil {
			t.Fatal(err)
		}
	}
	for got := 0; got < 2*(ended-1); { // the last one may still be on a stack
		b.await("collection", func() bool { runtime.GC(); return len(freed) > 0 })
		<-freed
		got++
	}
	for _, r := range b.tree.Records() {
		if r.State != transcript.ChildDone || r.Output != "hello" {
			t.Errorf("the record says %s, %q", r.State, r.Output)
		}
	}
}

package loop_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"acp-agent/model"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// The size of a result depends on the window, on what the server says is used of it, and on
// how many calls share it.
func TestTurn_ModelBytesOfResults(t *testing.T) {
	used := func(tokens int, step attempt) attempt {
		return func(ctx context.Context, yield func(model.Chunk, error) bool) {
			yield(model.Chunk{Kind: model.Usage, Usage: &transcript.Usage{Input: tokens}}, nil)
			step(ctx, yield)
		}
	}
	b := newBench(used(20, calls(model.ToolCalls, "read")), used(60, calls(model.ToolCalls, "read", "grep")), says("done", model.Stop))
	var mu sync.Mutex
	var sizes []int
	b.tools.run = func(_ context.Context, call *pipeline.Prepared) {
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, call.ModelBytes)
	}
	if _, err := b.turn(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	if want := []int{80, 20, 20}; !slices.Equal(sizes, want) { // of a window of 100
		t.Errorf("the results got %v bytes, want %v", sizes, want)
	}
}

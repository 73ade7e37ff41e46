package loop

import (
	"context"
	"slices"
	"sync"

	"acp-agent/model"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// batches groups calls so that no two calls of a batch conflict (R101). A call joins the last batch
// unless it conflicts with a member; the order of the calls stays.
func batches(calls []*pipeline.Prepared) [][]*pipeline.Prepared {
	var list [][]*pipeline.Prepared
	for _, call := range calls {
		if last := len(list) - 1; last >= 0 && !conflicts(call, list[last]) {
			list[last] = append(list[last], call)
			continue
		}
		list = append(list, []*pipeline.Prepared{call})
	}
	return list
}

func conflicts(call *pipeline.Prepared, batch []*pipeline.Prepared) bool {
	return slices.ContainsFunc(batch, call.Conflicts)
}

// runCalls runs a step's calls: the batches one after the other, the calls of a batch concurrently.
// Every call ends, even when ctx does; the results are in the order of the calls (R22).
func (l *Loop) runCalls(ctx context.Context, s *step) []callResult {
	prepared := make([]*pipeline.Prepared, len(s.calls))
	modelBytes, together := l.Tools.ModelBytes(l.Window(), l.used, len(s.calls)), &pipeline.Step{}
	for i, call := range s.calls {
		input := call.input.String()
		repaired, _ := model.RepairArguments(input)
		if s.finish == model.Length || s.finish == model.Refusal {
			tool, card := l.Tools.Label(call.name)
			prepared[i] = pipeline.Cut(pipeline.Call{ID: call.id, Name: call.name, Input: input}, tool, card)
		} else {
			prepared[i] = l.Tools.Prepare(pipeline.Call{ID: call.id, Name: call.name, Input: repaired, ModelBytes: modelBytes, Step: together})
		}
		l.emit(transcript.ToolReady{
			CallID: call.id, Tool: prepared[i].Tool, Input: repaired, Args: prepared[i].Args, Card: prepared[i].Card,
		})
	}
	results := make(map[string]transcript.ToolFinished, len(prepared))
	for _, batch := range batches(prepared) {
		l.runBatch(ctx, batch, results)
	}
	ordered := make([]callResult, len(prepared))
	for i, call := range prepared {
		ordered[i] = callResult{call: call, end: results[call.ID]}
	}
	return ordered
}

// endsTurn reports whether one of a step's results ends the turn. All calls of the step have ended by
// then, so that the next request has all results.
func endsTurn(results []callResult) bool {
	return slices.ContainsFunc(results, func(r callResult) bool { return r.end.EndsTurn })
}

func (l *Loop) runBatch(ctx context.Context, batch []*pipeline.Prepared, results map[string]transcript.ToolFinished) {
	var mu sync.Mutex
	finish := func(call *pipeline.Prepared) {
		end := l.Tools.Run(ctx, call, transcript.SinkFunc(l.emit))
		mu.Lock()
		defer mu.Unlock()
		results[call.ID] = end
	}
	if len(batch) == 1 {
		finish(batch[0])
		return
	}
	slots := make(chan struct{}, l.Concurrent)
	var group sync.WaitGroup
	for _, call := range batch {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			finish(call)
		})
	}
	group.Wait()
}

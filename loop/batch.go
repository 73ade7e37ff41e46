package loop

import (
	"context"
	"slices"
	"sync"

	"acp-agent/model"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// batches groups calls, in order, so that no two of a batch conflict (R101):
// a call joins the batch before it unless it conflicts with a member. Calls are
// never moved past one another.
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

// run executes a step's calls: batches in sequence, the members of one side by
// side. Every call ends, whatever happens; results are in call order (R22).
func (l *Loop) run(ctx context.Context, s *step) []callResult {
	prepared := make([]*pipeline.Prepared, len(s.calls))
	room := l.Tools.Room(l.Window(), l.used, len(s.calls))
	for i, call := range s.calls {
		input := call.input.String()
		repaired, _ := model.RepairArguments(input)
		if s.finish == model.Length || s.finish == model.Refusal {
			tool, card := l.Tools.Label(call.name)
			prepared[i] = pipeline.Cut(pipeline.Call{ID: call.id, Name: call.name, Input: input}, tool, card)
		} else {
			prepared[i] = l.Tools.Prepare(pipeline.Call{ID: call.id, Name: call.name, Input: repaired, Room: room})
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

// endsTurn reports whether one of a step's results ends the turn. Its other calls have
// ended too, so that the next request is complete.
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
	places := make(chan struct{}, l.Concurrent)
	var group sync.WaitGroup
	for _, call := range batch {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			finish(call)
		})
	}
	group.Wait()
}

package compaction

import (
	"cmp"
	"slices"

	"acp-agent/transcript"
)

const (
	// recentSteps are the last steps whose results are never taken out: the model works on them.
	recentSteps = 3
	// leastPruned is the least that is worth taking out of a result, in tokens.
	leastPruned = 100
)

// pruned is a result that can be taken out.
type pruned struct {
	call  string
	saves int // tokens
	age   int // in steps
}

// prunable lists the results that can be taken out, the oldest and largest first. recent is
// how many of the last steps keep theirs.
func prunable(messages []*transcript.Message, recent int) []pruned {
	var list []pruned
	age := 0
	for _, m := range slices.Backward(messages) {
		calls := m.Calls()
		if len(calls) == 0 {
			continue
		}
		if age++; age <= recent || !m.Finished {
			continue
		}
		for _, call := range calls {
			if saves := ofResult(call) - perCall; saves >= leastPruned {
				list = append(list, pruned{call.CallID, saves, age})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b pruned) int { return cmp.Compare(b.saves*b.age, a.saves*a.age) })
	return list
}

// prune takes out results until fill is at most goal, and returns the calls and what is left
// of fill. What stands in place of a result is counted with it.
func prune(messages []*transcript.Message, recent, fill, goal int) (calls []string, left int) {
	for _, p := range prunable(messages, recent) {
		if fill <= goal {
			break
		}
		calls = append(calls, p.call)
		fill -= p.saves - stub
	}
	return calls, fill
}

// stub is about what stands in place of a result that was taken out, in tokens.
const stub = 40

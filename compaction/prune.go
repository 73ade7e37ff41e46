package compaction

import (
	"cmp"
	"slices"

	"acp-agent/transcript"
)

const (
	// recentSteps is how many of the last steps keep their results, because the model works on them.
	recentSteps = 3
	// leastPruned is how many tokens a result must have to be worth taking out.
	leastPruned = 100
)

// pruned is a result that can be taken out.
type pruned struct {
	call  string
	saves int // tokens
	age   int // in steps
}

// prunable lists the results that can be taken out, the old and large ones first. recent is how many of
// the last steps keep theirs.
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

// prune chooses results to take out until fill is at most goal. It returns their calls, and the fill
// without them but with the stubs in their place.
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

// stub is the size, in tokens, of the text in place of a result that was taken out.
const stub = 40

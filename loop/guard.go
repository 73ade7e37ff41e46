package loop

import (
	"fmt"
	"strings"

	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// callResult is a call and its end.
type callResult struct {
	call *pipeline.Prepared
	end  transcript.ToolFinished
}

// The number of steps without progress after which a turn is stopped.
const (
	// maxMalformed is how many steps in a row may consist of calls whose
	// arguments are not even JSON.
	maxMalformed = 3
	// maxCut is how many answers in a row the token limit may cut off within a call: a call that
	// does not fit into an answer will not fit into the next one either.
	maxCut = 3
	// maxRepeats is how many steps in a row may make the same calls with the same results. It is
	// high, because a model may poll a slow build.
	maxRepeats = 10
)

// guard stops a turn that makes no progress.
type guard struct {
	malformed, cut, repeats int
	last                    string
}

// check counts the results of a step. An error says why the turn is stopped.
func (g *guard) check(results []callResult) error {
	g.malformed++
	g.cut++
	var fingerprint strings.Builder
	for _, r := range results {
		if !r.call.Malformed {
			g.malformed = 0
		}
		if !r.call.Cut {
			g.cut = 0
		}
		fmt.Fprintf(&fingerprint, "%q %q %q\n", r.call.Tool, r.call.Input, r.end.Text)
	}
	if g.malformed >= maxMalformed {
		return fmt.Errorf("the model sent malformed tool arguments %d times in a row", maxMalformed)
	}
	if g.cut >= maxCut {
		return fmt.Errorf("the limit of the model's answers cut off its calls %d times in a row", maxCut)
	}
	if fingerprint.String() != g.last {
		g.repeats, g.last = 0, fingerprint.String()
	}
	if g.repeats++; g.repeats >= maxRepeats {
		return fmt.Errorf("the model repeated the same calls with the same results %d times", maxRepeats)
	}
	return nil
}

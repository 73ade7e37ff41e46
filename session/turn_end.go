package session

import (
	"context"
	"strings"
	"time"

	"acp-agent/internal/record"
	"acp-agent/loop"
	"acp-agent/transcript"
)

// abortWait bounds how long the answer of a cancelled turn waits for subagents.
const abortWait = 2 * time.Second

// namedSubagents bounds how many running subagents the end of a turn names.
const namedSubagents = 10

// endWithBackground ends a turn in view of what runs in the background, and returns how the turn ended.
// Of a turn that was cancelled, even while this runs, it waits for the subagents to end (R67); of any
// other it names the subagents that still run, and the jobs that the turn has started.
func (r *runningTurn) endWithBackground(stop loop.StopReason) loop.StopReason {
	if r.ctx.Err() == nil && !r.spec.Waits {
		r.noticeRunningSubagents()
		r.assembler.jobs.nameStarted()
	}
	if r.ctx.Err() == nil {
		return stop
	}
	ending, cancel := context.WithTimeout(context.Background(), abortWait)
	defer cancel()
	r.agents.tree.WaitAll(ending)
	return loop.Cancelled
}

func (r *runningTurn) noticeRunningSubagents() {
	names := record.Look(r.host.Tape, "running subagents", r.ID, r.runningSubagents)
	if len(names) > 0 {
		r.conversation.say("Still running in the background: " + strings.Join(names, ", ") + ". `/tasks` lists and stops them.\n")
	}
}

// runningSubagents names the subagents that run, and says which of them wait for the user.
func (r *runningTurn) runningSubagents() (names []string) {
	for _, record := range r.agents.tree.Active() {
		name := transcript.PathText(record.Path)
		if record.AwaitsUser {
			name += " (waits for your answer)"
		}
		names = append(names, name)
	}
	return firstOf(names, namedSubagents)
}

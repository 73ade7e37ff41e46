package protocol

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

var (
	kills     = flag.Int("kills", 0, "how often TestKill_AtAnyMoment kills the agent; 0 is 12, and 3 in the short form")
	killsDone = flag.String("kills-done", "", "file with the number of kills that passed: a run that was interrupted goes on from there")
)

// killSeries counts what all sessions of a run do. Its sessions run side by side.
type killSeries struct {
	wanted  int64
	before  int64 // kills of earlier runs
	started time.Time

	taken, done                       atomic.Int64 // kills that began, and that were survived
	prompts, answered, compacted      atomic.Int64
	calling, compacting, working      atomic.Int64 // kills during a call, a compaction, a command in the background
	opening, loading, turning, ending atomic.Int64 // nanoseconds
	slowest                           atomic.Int64 // nanoseconds from a kill to the end of the output
}

func (s *killSeries) String() string {
	each := func(n *atomic.Int64) time.Duration {
		return (time.Duration(n.Load()) / time.Duration(max(1, s.done.Load()-s.before))).Round(time.Millisecond)
	}
	return fmt.Sprintf("%d of %d kills after %s: %d during a call, %d during a compaction, %d while a command ran in the background; "+
		"%d prompts, %d answered; %d compactions; a kill takes %s to start, %s to load, %s of turns, %s to end; the slowest was gone after %s",
		s.done.Load(), s.wanted, time.Since(s.started).Round(time.Second), s.calling.Load(), s.compacting.Load(), s.working.Load(),
		s.prompts.Load(), s.answered.Load(), s.compacted.Load(),
		each(&s.opening), each(&s.loading), each(&s.turning), each(&s.ending), time.Duration(s.slowest.Load()).Round(time.Millisecond))
}

// gone notes how long an agent took to end that was killed.
func (s *killSeries) gone(after time.Duration) {
	for {
		was := s.slowest.Load()
		if int64(after) <= was || s.slowest.CompareAndSwap(was, int64(after)) {
			return
		}
	}
}

// resume goes on from the kills that an earlier run noted.
func (s *killSeries) resume(t *testing.T) {
	if *killsDone == "" {
		return
	}
	text, err := os.ReadFile(*killsDone)
	if os.IsNotExist(err) {
		return
	}
	if err == nil {
		_, err = fmt.Sscan(string(text), &s.before)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.taken.Store(s.before)
	s.done.Store(s.before)
}

// survived notes a kill, and says now and then how far the run is.
func (s *killSeries) survived(t *testing.T) {
	n := s.done.Add(1)
	if n%50 == 0 {
		t.Log(s.String())
	}
	if *killsDone == "" || t.Failed() {
		return
	}
	if err := os.WriteFile(*killsDone, fmt.Appendln(nil, n), 0o600); err != nil {
		t.Fatal(err)
	}
}

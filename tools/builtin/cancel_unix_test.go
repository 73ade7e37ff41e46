//go:build unix && !race

package builtin_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/testkit/testreq"
)

const (
	// cancelLimit is the time in which a tool that was cancelled returns.
	cancelLimit = 50 * time.Millisecond
	// busy is how much longer it may take by the clock on a machine that does much other work.
	busy = 40
	// wholeLimit ends a call that is measured from beginning to end.
	wholeLimit = 2 * time.Second
	// tries is how often a cancel is repeated that came too late.
	tries = 4
	// slack is for the garbage collector, whose time counts as the tool's.
	slack = 2
)

// TestAll_CancelInTheMiddle cancels each tool at several points of its worst calls. What
// the tool still works is the processor time of the whole process, garbage collection
// included; the clock, which other work on the machine distorts, has a wider limit. It is
// not parallel: what it measures is the time of the whole process. The race detector would
// distort it (make test runs it on its own). The short form has a part of the calls, at one
// point each.
func TestAll_CancelInTheMiddle(t *testing.T) {
	for _, call := range testreq.Pick(shortCalls, worstCalls()) {
		t.Run(call.tool+"/"+call.name, func(t *testing.T) {
			run, fresh := call.prepared(t)
			ctx, cancel := context.WithTimeout(t.Context(), wholeLimit)
			rt := fresh()
			began := used(t)
			_ = run(ctx, rt) // an error, or the end of the time
			whole := used(t) - began
			cancel()
			for _, percent := range testreq.Pick(1, []time.Duration{35, 5, 70}) {
				var late []lateness
				for range tries {
					rt := fresh()
					l := cancelAfter(t, whole*percent/100, func(ctx context.Context) { _ = run(ctx, rt) })
					if late = append(late, l); l.worked <= cancelLimit*slack && l.waited <= cancelLimit*slack*busy {
						late = nil
						break
					}
				}
				if late != nil {
					t.Errorf("cancelled after %d%% of %v, it worked on and returned after %v, want at most %v and %v",
						percent, whole, late, cancelLimit*slack, cancelLimit*slack*busy)
				}
			}
		})
	}
}

// lateness is what passes between a cancel and the end of a call: processor time and time
// by the clock.
type lateness struct{ worked, waited time.Duration }

// cancelAfter cancels a call when the process has worked for some time.
func cancelAfter(t *testing.T, work time.Duration, run func(ctx context.Context)) lateness {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended, cancelled := make(chan struct{}), make(chan struct{})
	var worked time.Duration
	var at time.Time
	began := used(t)
	go func() { // ends with the call, or before
		defer close(cancelled)
		clock := time.NewTicker(time.Millisecond)
		defer clock.Stop()
		for used(t)-began < work {
			select {
			case <-clock.C:
			case <-ended:
				return
			}
		}
		cancel()
		worked, at = used(t), time.Now()
	}()
	run(ctx)
	end, now := used(t), time.Now()
	close(ended)
	<-cancelled
	if at.IsZero() || at.After(now) {
		return lateness{} // it was faster
	}
	return lateness{worked: end - worked, waited: now.Sub(at)}
}

// used is the processor time of this process.
func used(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Error(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

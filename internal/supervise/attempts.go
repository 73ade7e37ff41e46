package supervise

import (
	"fmt"
	"time"
)

// Attempts are the starts of one process, and what became of them. The zero value never
// gives up and never waits. It is not safe for concurrent use.
type Attempts struct {
	// Max is how many failures in a row there may be before nothing is started any more;
	// 0 means that there is no bound.
	Max int
	// Backoff is the schedule of waits: before the first restart in a row, the second and so
	// on; the last one repeats. nil means no waits.
	Backoff []time.Duration

	failures int
	last     error
}

// Worked notes that the process did what it is for: failures before are forgotten.
func (a *Attempts) Worked() { a.failures, a.last = 0, nil }

// Failed notes that the process did not start, or ended.
func (a *Attempts) Failed(err error) { a.failures, a.last = a.failures+1, err }

// Wait returns how long to wait before the next start.
func (a *Attempts) Wait() time.Duration {
	if len(a.Backoff) == 0 || a.failures == 0 {
		return 0
	}
	return a.Backoff[min(a.failures, len(a.Backoff))-1]
}

// GaveUp returns a *GaveUpError when the process must not be started again, else nil.
func (a *Attempts) GaveUp() error {
	if a.Max <= 0 || a.failures < a.Max {
		return nil
	}
	return &GaveUpError{Failures: a.failures, Err: a.last}
}

// GaveUpError says that a process is not started again.
type GaveUpError struct {
	// Failures is how often it failed in a row.
	Failures int
	// Err is the last failure.
	Err error
}

// Error implements error.
func (e *GaveUpError) Error() string {
	return fmt.Sprintf("gave up restarting after %d failures in a row: %v", e.Failures, e.Err)
}

// Unwrap returns the last failure.
func (e *GaveUpError) Unwrap() error { return e.Err }

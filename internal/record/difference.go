package record

import (
	"context"
	"time"
)

// Difference is the first thing in which a replay differs from its recording.
type Difference struct {
	// Entry is the index of the entry that was expected; if none was, that of the first that is not done.
	Entry int
	// What describes the difference, Path is its place in the message, Want and Got are both sides.
	What, Path, Want, Got string
}

// Error says what differs.
func (d *Difference) Error() string { return d.What }

// Differ ends the replay with a difference, unless it is over already.
func (p *Player) Differ(d Difference) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.difference == nil && !p.stopped {
		p.difference = &d
	}
	p.advance()
	return &d
}

// cancelGrace is how long a replay waits for the cancellation of something that the recording does not have: the
// cancel may come a moment later than when it was recorded.
const cancelGrace = time.Second

// differUnlessCancelled ends the replay with a difference, unless ctx ends within cancelGrace. Where the recorded
// process was killed, the recording may have ended before what the agent does now: then there is no difference,
// and the agent waits for the end of the replay.
func (p *Player) differUnlessCancelled(ctx context.Context, d Difference) error {
	if !p.HasEnd() {
		return p.awaitOver(ctx)
	}
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-grace.C:
		return p.Differ(d)
	}
}

package v1

import "time"

// unwrittenInterval is how often the pacer checks again whether an update has been written.
const unwrittenInterval = 25 * time.Millisecond

// pacer decides when the next update of something may be sent, and sets the timer that sends
// it. The translator's lock guards it.
type pacer struct {
	conn  notifier
	now   func() time.Time
	timer *time.Timer
	due   time.Time // when the timer fires; zero when it is not set
}

// sentMark is when an update of something was sent.
type sentMark struct {
	at       time.Time
	position int64 // of the output after it
}

// wait is how long the next update has to wait when updates are to be an interval apart; 0
// means not at all. An update that is not even written delays the next one.
func (p *pacer) wait(last sentMark, interval time.Duration) time.Duration {
	if wait := interval - p.now().Sub(last.at); wait > 0 {
		return wait
	}
	if _, written := p.conn.Position(); written < last.position {
		return unwrittenInterval
	}
	return 0
}

// mark marks an update that was just sent.
func (p *pacer) mark() sentMark {
	sent, _ := p.conn.Position()
	return sentMark{at: p.now(), position: sent}
}

// schedule makes the timer fire after wait, or earlier if it is already set to.
func (p *pacer) schedule(wait time.Duration) {
	due := p.now().Add(wait)
	if p.due.IsZero() || due.Before(p.due) {
		p.due = due
		p.timer.Reset(wait)
	}
}

// stop stops the timer.
func (p *pacer) stop() {
	p.timer.Stop()
	p.due = time.Time{}
}

package sandbox

import (
	"context"
	"sync"
)

// Probe finds out once, in the background, how processes can be confined (S2).
// It is safe for concurrent use. A nil Probe finds None.
type Probe struct {
	find func(context.Context) Report
	once sync.Once
	done chan struct{}
	stop context.CancelFunc // set before the finding begins
	// report is written before done is closed and never after.
	report Report
}

// NewProbe returns a Probe that has not begun. find tries things and reports.
func NewProbe(find func(context.Context) Report) *Probe {
	return &Probe{find: find, done: make(chan struct{}), report: Report{Kind: None}}
}

// Start begins to find out, unless that has begun. ctx bounds the finding.
func (p *Probe) Start(ctx context.Context) {
	if p == nil {
		return
	}
	p.once.Do(func() {
		ctx, p.stop = context.WithCancel(ctx)
		go func() {
			defer close(p.done)
			p.report = p.find(ctx)
		}()
	})
}

// errEnding is why no process is started after Stop.
const errEnding = "the agent is ending"

// Stop ends a finding that is being made, and waits for its end. What was not found
// by then is never found: whoever still waits starts nothing.
func (p *Probe) Stop() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		p.stop = func() {}
		p.report.Refused = errEnding
		close(p.done)
	})
	p.stop()
	<-p.done
}

// Wait returns the finding, after starting to find out if need be. Its error is
// that of ctx.
func (p *Probe) Wait(ctx context.Context) (Report, error) {
	if p == nil {
		return Report{Kind: None}, nil
	}
	p.Start(context.WithoutCancel(ctx))
	select {
	case <-p.done:
		return p.report, nil
	case <-ctx.Done():
		return Report{Kind: None}, ctx.Err()
	}
}

// Known returns the finding if there is one yet.
func (p *Probe) Known() (Report, bool) {
	if p == nil {
		return Report{Kind: None}, true
	}
	select {
	case <-p.done:
		return p.report, true
	default:
		return Report{}, false
	}
}

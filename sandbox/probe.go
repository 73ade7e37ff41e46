package sandbox

import (
	"context"
	"sync"
)

// Expectation is what a [Probe] knows of its finding beforehand. Expected is called at
// most once; Keep once, after the finding is made and by the goroutine that made it.
type Expectation interface {
	Expected() (Report, bool)
	Keep(context.Context, Report) error
}

// Probe finds out once, in the background, how processes can be confined (S2).
// It is safe for concurrent use. A nil Probe finds None.
type Probe struct {
	// Memory has the finding that is expected before there is one, and keeps it for the
	// next process; nil expects and keeps nothing. It is set before the Probe is used.
	Memory Expectation

	// Found, unless nil, is called with the finding before anyone learns of it. It is set before
	// the Probe is used.
	Found func(Report)

	recall   sync.Once
	expected Report
	recalled bool

	find  func(context.Context) Report
	once  sync.Once
	done  chan struct{}      // closed when the finding is made
	ended chan struct{}      // closed when the goroutine ends
	stop  context.CancelFunc // set before the finding starts
	// report is written before done is closed and never after.
	report Report
}

// NewProbe returns a Probe that has not started. find tries things and reports.
func NewProbe(find func(context.Context) Report) *Probe {
	return &Probe{find: find, done: make(chan struct{}), ended: make(chan struct{}), report: Report{Kind: None}}
}

// Start starts to find out, unless that has started. ctx bounds the finding.
func (p *Probe) Start(ctx context.Context) {
	if p == nil {
		return
	}
	p.once.Do(func() {
		ctx, p.stop = context.WithCancel(ctx)
		go func() {
			defer close(p.ended)
			p.report = p.find(ctx)
			made := ctx.Err() == nil
			if p.Found != nil {
				p.Found(p.report)
			}
			close(p.done)
			if p.Memory != nil && made {
				_ = p.Memory.Keep(context.WithoutCancel(ctx), p.report) // else the next process knows it later
			}
		}()
	})
}

// errEnding is why no process is started after Stop.
const errEnding = "the agent is ending"

// Stop ends a finding that is being made, and waits for its end. What was not found
// by then is never found: a caller that still waits starts nothing.
func (p *Probe) Stop() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		p.stop = func() {}
		p.report.Refused = errEnding
		close(p.done)
		close(p.ended)
	})
	p.stop()
	<-p.ended
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

// Expected returns the finding, or before it is made the one that Memory expects. It
// says which modes to name, and confines nothing.
func (p *Probe) Expected() (Report, bool) {
	report, known := p.Known()
	if known || p.Memory == nil {
		return report, known
	}
	p.recall.Do(func() { p.expected, p.recalled = p.Memory.Expected() })
	return p.expected, p.recalled
}

package app

import (
	"context"
	"encoding/json"

	"acp-agent/internal/record"
	"acp-agent/sandbox"
	"acp-agent/session"
)

// tapeSandbox records how processes can be confined, and when that became known.
func (c *core) tapeSandbox(host *session.Host) {
	const event = "sandbox"
	known := record.Value(c.tape, "known sandbox", "", func() (x expectedReport) {
		x.Report, x.Known = host.Sandbox.Known()
		return x
	})
	switch {
	case c.tape.Plays() && known.Known:
		host.Sandbox = sandbox.NewProbe(func(context.Context) sandbox.Report { return known.Report })
		_, _ = host.Sandbox.Wait(context.Background()) // its finding is there at once
	case known.Known:
	case c.tape.Records():
		host.Sandbox.Found = func(report sandbox.Report) {
			if data, err := json.Marshal(report); err == nil {
				c.tape.Happened("", event, data)
			}
		}
		host.Sandbox.Memory = tapedExpectation{host.Sandbox.Memory, c.tape}
	case c.tape.Plays():
		found := make(chan sandbox.Report, 1)
		var probe *sandbox.Probe
		c.tape.OnHappened("", func(name string, data []byte) {
			var report sandbox.Report
			if name == event && json.Unmarshal(data, &report) == nil {
				found <- report
				_, _ = probe.Wait(context.Background()) // the steps that follow in the recording build on it
			}
		})
		probe = sandbox.NewProbe(func(ctx context.Context) sandbox.Report {
			select {
			case report := <-found:
				return report
			case <-ctx.Done():
				return sandbox.Report{Kind: sandbox.None}
			}
		})
		probe.Memory = tapedExpectation{nil, c.tape}
		host.Sandbox = probe
		probe.Start(context.Background())
	}
}

// tapedExpectation is an expectation with a record.
type tapedExpectation struct {
	sandbox.Expectation
	tape *record.Tape
}

// expectedReport is one answer of an expectation, as it is recorded.
type expectedReport struct {
	Report sandbox.Report
	Known  bool
}

// Expected implements sandbox.Expectation.
func (e tapedExpectation) Expected() (sandbox.Report, bool) {
	answer := record.Value(e.tape, "expected sandbox", "", func() (x expectedReport) {
		if e.Expectation != nil {
			x.Report, x.Known = e.Expectation.Expected()
		}
		return x
	})
	return answer.Report, answer.Known
}

// Keep implements sandbox.Expectation.
func (e tapedExpectation) Keep(ctx context.Context, report sandbox.Report) error {
	if e.Expectation == nil {
		return nil
	}
	return e.Expectation.Keep(ctx, report)
}

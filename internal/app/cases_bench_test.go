//go:build unix

package app

import (
	"encoding/json"
	"io"
	"slices"
	"testing"
	"time"

	"acp-agent/config"
	"acp-agent/internal/testkit/cases"
)

// BenchmarkExplain_Cases judges the commands of the case file one after the other, through
// every stage that a real call is judged by, and reports the median and the 99th
// percentile of one judgement. The goals are 1 ms and 5 ms.
func BenchmarkExplain_Cases(b *testing.B) {
	fixture := cases.NewFixture(b)
	core := newCore(io.Discard)
	core.sources, core.stateDir = config.Sources{HomeDir: fixture.Home}, b.TempDir()
	b.Cleanup(core.Close)
	e, err := newExplainer(core, fixture.Work, "")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(e.close)
	var calls []judgedCall
	for _, c := range cases.Read(b, "commands.txt", fixture.Places()) {
		tool, args := c.Call(b)
		raw, err := json.Marshal(args)
		if err != nil {
			b.Fatal(err)
		}
		calls = append(calls, judgedCall{Tool: tool, Args: raw})
	}
	if _, err := e.explain(b.Context(), calls[0]); err != nil { // opens the workspace
		b.Fatal(err)
	}
	var took []time.Duration
	for b.Loop() {
		for _, call := range calls {
			began := time.Now()
			if _, err := e.explain(b.Context(), call); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
		}
	}
	slices.Sort(took)
	at := func(percent int) float64 { return float64(took[len(took)*percent/100].Nanoseconds()) / 1e6 }
	b.ReportMetric(at(50), "p50-ms")
	b.ReportMetric(at(99), "p99-ms")
	b.ReportMetric(float64(took[len(took)-1].Nanoseconds())/1e6, "max-ms")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(took)), "ns/call")
}

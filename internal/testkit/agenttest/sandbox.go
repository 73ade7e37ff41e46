package agenttest

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/pause"
	"acp-agent/sandbox"
)

// EnvSandbox has the program find the kind of sandbox that it names, for scripts
// about the mode auto: what is allowed is what they are about, not the sandbox. With
// "KIND:FILE" it is found when the file is there, with "KIND:DURATION" so long after the
// start, and with ":KIND" after that, that kind is expected until then.
const EnvSandbox = "ACP_AGENT_TEST_SANDBOX"

func pretendSandbox(value string) func() *sandbox.Probe {
	kind, rest, _ := strings.Cut(value, ":")
	until, expected, _ := strings.Cut(rest, ":")
	return sync.OnceValue(func() *sandbox.Probe {
		probe := sandbox.NewProbe(func(ctx context.Context) sandbox.Report {
			if !pretendWait(ctx, until) {
				return sandbox.Report{Kind: sandbox.None}
			}
			return pretendReport(kind)
		})
		if expected != "" {
			probe.Memory = pretendMemory(expected)
		}
		if until == "" {
			_, _ = probe.Wait(context.Background())
		}
		return probe
	})
}

func pretendReport(kind string) sandbox.Report {
	report := sandbox.Report{Kind: sandbox.Kind(kind), Network: true}
	if !report.Confines() {
		report.Notes = []string{"This is a test."}
	}
	return report
}

// pretendWait waits for a file to exist, or for a duration; false means that ctx ended first.
func pretendWait(ctx context.Context, until string) bool {
	if until == "" {
		return true
	}
	if delay, err := time.ParseDuration(until); err == nil {
		return pause.For(ctx, delay) == nil
	}
	for !exists(until) {
		if pause.For(ctx, 5*time.Millisecond) != nil {
			return false
		}
	}
	return true
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// pretendMemory expects a kind of sandbox and keeps nothing.
type pretendMemory string

func (m pretendMemory) Expected() (sandbox.Report, bool) { return pretendReport(string(m)), true }

func (pretendMemory) Keep(context.Context, sandbox.Report) error { return nil }

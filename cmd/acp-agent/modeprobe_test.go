package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"acp-agent/sandbox"
)

// envSandbox has the program find the kind of sandbox that it names, for scripts
// about the mode auto: what is allowed is what they are about, not the walls. With
// "KIND:FILE" it is found when the file is there.
const envSandbox = "ACP_AGENT_TEST_SANDBOX"

func pretendSandbox(value string) func() *sandbox.Probe {
	kind, file, _ := strings.Cut(value, ":")
	return sync.OnceValue(func() *sandbox.Probe {
		probe := sandbox.NewProbe(func(ctx context.Context) sandbox.Report {
			for file != "" {
				if _, err := os.Stat(file); err == nil {
					break
				}
				select {
				case <-ctx.Done():
					return sandbox.Report{Kind: sandbox.None}
				case <-time.After(5 * time.Millisecond):
				}
			}
			report := sandbox.Report{Kind: sandbox.Kind(kind), Network: true}
			if !report.Confines() {
				report.Notes = []string{"This is a test."}
			}
			return report
		})
		probe.Start(context.Background())
		if file == "" {
			_, _ = probe.Wait(context.Background())
		}
		return probe
	})
}

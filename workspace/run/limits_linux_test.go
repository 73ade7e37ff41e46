package run_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// TestRun_LimitsAreNamed holds that a command which reaches a limit ends, and that its
// result names the limit and the setting.
func TestRun_LimitsAreNamed(t *testing.T) {
	t.Parallel()
	const hog = `x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`
	tests := []struct {
		name, text string
		limits     tools.CommandLimits
		reading    bool
		want       []string // in the one note; empty is not a note
	}{
		{"memory", hog, tools.CommandLimits{Memory: 64 << 20}, false, []string{"64.0 MiB of memory", "limits.memory"}},
		{"memory of a child", "bash -c '" + hog + "'; sleep 600", tools.CommandLimits{Memory: 64 << 20}, false, []string{"64.0 MiB of memory", "limits.memory"}},
		{"memory of reading", hog, tools.CommandLimits{ReadingMemory: 32 << 20, Memory: 1 << 40}, true, []string{"32.0 MiB of memory", "limits.reading_memory"}},
		{"memory where reading has more", hog, tools.CommandLimits{ReadingMemory: 1 << 40, Memory: 32 << 20}, true, []string{"32.0 MiB"}},
		{"processes", "b() { b | b & }; b 2>/dev/null; sleep 600", tools.CommandLimits{Processes: 50}, false, []string{"50 processes", "limits.processes"}},
		{"file", "head -c 9000 /dev/zero >f", tools.CommandLimits{FileSize: 4096}, false, []string{"0.0 MiB for each file", "limits.file_size"}},
		{"time of reading", "while :; do :; done", tools.CommandLimits{ReadingTimeout: 200 * time.Millisecond}, true, []string{"after 200ms", "only read", "limits.reading_timeout"}},
		{"reading in time", "true", tools.CommandLimits{ReadingTimeout: time.Minute, ReadingMemory: 1 << 30, Processes: 100}, true, nil},
		{"time of others", "sleep 0.4", tools.CommandLimits{ReadingTimeout: 100 * time.Millisecond}, false, nil},
		{"none", "true", tools.CommandLimits{}, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := worktest.New(t, func(o *workspace.Options) {
				o.Limits = tools.CanonicalLimits()
				o.Limits.Command = tt.limits
			})
			c := g.Start(t)
			c.Commands().Grant(run.Grant{Bounded: tt.reading})
			exit, err := c.Processes().Run(t.Context(), tools.ShellCommand{Text: tt.text}, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if len(tt.want) == 0 {
				worktest.Same(t, "exit", exit, tools.Exit{})
				return
			}
			if exit.Code == 0 || len(exit.Notes) != 1 {
				t.Fatalf("exit %+v, want a failure with one note", exit)
			}
			for _, part := range tt.want {
				if !strings.Contains(exit.Notes[0], part) {
					t.Errorf("note %q does not say %q", exit.Notes[0], part)
				}
			}
		})
	}
}

// TestRun_TimeOfReadingInATerminal holds that the terminal of the client changes nothing
// about the time limit.
func TestRun_TimeOfReadingInATerminal(t *testing.T) {
	t.Parallel()
	terminals := &fakeTerminals{}
	g := worktest.New(t, func(o *workspace.Options) {
		o.Commands.Terminals = terminals
		o.Limits = tools.CanonicalLimits()
		o.Limits.Command = tools.CommandLimits{ReadingTimeout: 300 * time.Millisecond}
	})
	c := g.Start(t)
	c.Commands().Grant(run.Grant{Bounded: true})
	exit, err := c.Processes().Run(t.Context(), tools.ShellCommand{Text: "while :; do :; done"}, io.Discard)
	if err != nil || len(exit.Notes) != 1 || !strings.Contains(exit.Notes[0], "limits.reading_timeout") {
		t.Errorf("exit %+v, %v; want the note of the time limit", exit, err)
	}
	if len(terminals.created) != 1 {
		t.Errorf("%d terminals, want 1", len(terminals.created))
	}
}

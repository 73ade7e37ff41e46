//go:build unix

package builtin_test

import (
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/tools/tooltest"
)

// cancelLimit is the time in which a tool that was cancelled returns. The test counts the
// processor time of the whole process, the garbage collector's included: on a machine
// that does other work, the clock says nothing.
const cancelLimit = 50 * time.Millisecond

// slack is for the garbage collector, which the race detector slows down.
const slack = 2

// worstCall is a call that takes a tool as much work as one can ask for.
type worstCall struct {
	name, tool string
	args       map[string]any
	text       string // of the file f
}

func worstCalls() []worstCall {
	long := strings.Repeat("ab ", 3_000_000)
	blank := strings.Repeat("\n", 4_000_000)
	alike := strings.Repeat("\tif x { return }\n", 500_000)
	miss := strings.Repeat("if x { return }\n", 200)
	return []worstCall{
		{"lines", "read", map[string]any{"path": "f"}, alike},
		{"one line", "read", map[string]any{"path": "f"}, long},
		{"blank lines", "read", map[string]any{"path": "f"}, blank},
		{"text that is not there", "edit", map[string]any{"path": "f", "old_str": miss + "y", "new_str": "x"}, alike},
		{"text with other indentation", "edit", map[string]any{"path": "f", "old_str": miss, "new_str": "x"}, alike},
		{"text with other blanks", "edit", map[string]any{"path": "f", "old_str": "\n\n\n\n\n\n\n\nx", "new_str": "x"}, blank},
		{"long line that is not there", "edit", map[string]any{"path": "f", "old_str": strings.Repeat("ba ", 1000), "new_str": "x"}, long},
		{"every place", "edit", map[string]any{"path": "f", "old_str": "a", "new_str": "bb", "replace_all": true}, long},
		{"every line", "edit", map[string]any{"path": "f", "old_str": "return", "new_str": "panic", "replace_all": true}, alike},
		{"hunk that is not there", "apply_patch", map[string]any{"patchText": "*** Begin Patch\n*** Update File: f\n@@\n" + strings.Repeat(" \tif y { return }\n", 2000) + "-a\n+b\n*** End Patch"}, alike},
		{"many hunks", "apply_patch", map[string]any{"patchText": "*** Begin Patch\n*** Update File: f\n" + strings.Repeat("@@\n-\tif x { return }\n+y\n", 2000) + "*** End Patch"}, alike},
		{"alternatives", "glob", map[string]any{"filePattern": "**/" + strings.Repeat("*{a,b}", 8) + "c"}, ""},
		{"stars", "glob", map[string]any{"filePattern": strings.Repeat("**/*", 900)}, ""},
		{"braces", "glob", map[string]any{"filePattern": strings.Repeat("{", 15000) + strings.Repeat("}", 15000)}, ""},
		{"repetitions", "grep", map[string]any{"pattern": `(x+x+)+y(.{90}z){40}`}, strings.Repeat("x", 9_000_000)},
		{"large expression", "grep", map[string]any{"pattern": `(a?b?){900}(.{50}z){50}`}, strings.Repeat("ab", 4_000_000)},
		{"states", "grep", map[string]any{"pattern": `[ab][^d]{900}c`}, long},
		{"hits", "grep", map[string]any{"pattern": "return"}, alike},
	}
}

// TestAll_CancelInTheMiddle cancels each tool in the middle of its worst input. It is
// not parallel: what it measures is the time of the whole process.
func TestAll_CancelInTheMiddle(t *testing.T) {
	const tries = 3
	many := map[string]string{}
	for i := range 300 {
		many["dir/"+strings.Repeat("a", i%200+1)+string(rune('a'+i%26))] = ""
	}
	for _, call := range worstCalls() {
		t.Run(call.tool+"/"+call.name, func(t *testing.T) {
			args, tool := encode(t, call.args), tool(t, call.tool)
			var late []time.Duration
			for i := range tries {
				files := many
				if call.text != "" {
					files = map[string]string{"f": call.text}
				}
				rt := tooltest.New(tooltest.Options{Files: files})
				ctx, cancel := context.WithCancel(t.Context())
				cancelled := make(chan time.Duration, 1)
				timer := time.AfterFunc(time.Duration(5*(1+5*i))*time.Millisecond, func() {
					cancel()
					cancelled <- used(t)
				})
				_, _ = rt.Run(ctx, tool, call.tool, args) // an error, or the end of a cancelled call
				if end := used(t); timer.Stop() {
					late = append(late, 0) // it was faster
				} else {
					late = append(late, end-<-cancelled)
				}
				cancel()
			}
			slices.Sort(late)
			if median := late[len(late)/2]; median > cancelLimit*slack {
				t.Errorf("it worked on for %v after the cancel, want at most %v", late, cancelLimit*slack)
			}
		})
	}
}

// used is the processor time of this process.
func used(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Error(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

//go:build unix

package run_test

import (
	"bytes"
	"testing"

	"acp-agent/internal/testkit/worktest"
	"acp-agent/tools"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// TestRun_Passed holds that a variable that the user passes reaches commands, and none that
// runs unasked because it only reads (X1).
func TestRun_Passed(t *testing.T) {
	w := worktest.New(t, func(o *workspace.Options) {
		o.Commands.Environ = append(o.Commands.Environ, "PYTHONPATH=src")
		o.Commands.Passed = []string{"PYTHONPATH"}
	})
	for _, tt := range []struct {
		grant run.Grant
		want  string
	}{{run.Grant{}, "src\n"}, {run.Grant{Reading: true}, "none\n"}} {
		call := w.Start(t)
		call.Commands().Grant(tt.grant)
		var out bytes.Buffer
		exit, err := call.Processes().Run(t.Context(), tools.ShellCommand{Text: "echo ${PYTHONPATH:-none}", Dir: w.Cwd}, &out)
		if err != nil || exit.Code != 0 || out.String() != tt.want {
			t.Errorf("%+v: %q, %+v, %v, want %q", tt.grant, out.String(), exit, err, tt.want)
		}
	}
}

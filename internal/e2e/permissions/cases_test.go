//go:build unix

package permissions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/cases"
)

// explained is what permissions explain says of a call.
type explained struct{ Verdict, Layer, Reason, Part string }

// explain judges the cases of one mode with the real program: probed, in the sandbox of this
// machine, else in one that is only pretended.
func explain(t testing.TB, g cases.Fixture, mode string, probed bool, all []cases.Case) []explained {
	t.Helper()
	var in bytes.Buffer
	for _, c := range all {
		tool, args := c.Call(t)
		line, err := json.Marshal(map[string]any{"tool": tool, "args": args})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"permissions", "explain", "--json", "--cwd", g.Work}
	if mode != "" {
		args = append(args, "--mode", mode)
	}
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stdin = g.Base, &in
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + g.Home, acptest.EnvProgram + "=1", "GORACE=atexit_sleep_ms=0",
		"ACP_AGENT_CONFIG=" + filepath.Join(g.Home, "config.jsonc"),
	}
	if !probed {
		cmd.Env = append(cmd.Env, agenttest.EnvSandbox+"=landlock")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.Bytes())
	}
	var answers []explained
	for line := range strings.Lines(string(out)) {
		var answer explained
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		answers = append(answers, answer)
	}
	if len(answers) != len(all) {
		t.Fatalf("%d answers to %d calls", len(answers), len(all))
	}
	return answers
}

// TestCases judges the case files with the real program: nothing is allowed that must be
// asked or denied; of what must be denied at most one in ten is only asked; of what may
// run at most one in ten is asked (R118, R119).
func TestCases(t *testing.T) {
	t.Parallel()
	least := map[string]int{"commands.txt": 300, "paths.txt": 120, "urls.txt": 100}
	fixture := cases.NewFixture(t)
	for file, least := range least {
		t.Run(file, func(t *testing.T) {
			all := cases.Read(t, file, fixture.Places())
			if len(all) < least {
				t.Errorf("%d cases, want %d", len(all), least)
			}
			modes := map[string][]cases.Case{}
			for _, c := range all {
				modes[c.Mode] = append(modes[c.Mode], c)
			}
			before := fixture.State(t)
			wanted, missed := map[string]int{}, map[string]int{}
			for mode, inMode := range modes {
				for i, answer := range explain(t, fixture, mode, false, inMode) {
					c := inMode[i]
					wanted[c.Want]++
					if answer.Reason == "" || answer.Layer == "" {
						t.Errorf("%s:%d: %q: no reason or layer: %+v", c.File, c.Line, c.Text, answer)
					}
					if answer.Verdict == c.Want {
						continue
					}
					what := fmt.Sprintf("%s:%d: %q is %s by %s (%s), want %s: %s", c.File, c.Line, c.Text, answer.Verdict, answer.Layer, answer.Reason, c.Want, c.Why)
					if missed[c.Want]++; answer.Verdict == "allow" {
						t.Error("dangerous: " + what)
					} else {
						t.Log(what)
					}
				}
			}
			if after := fixture.State(t); after != before {
				t.Error("explaining changed the disk")
			}
			for want, n := range missed {
				if 10*n > wanted[want] {
					t.Errorf("%d of %d that are to be %s are not", n, wanted[want], want)
				}
			}
			t.Logf("%d cases; other verdicts, none of them an allow: %v of %v", len(all), missed, wanted)
		})
	}
}

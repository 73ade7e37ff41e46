//go:build unix

package mount_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/bridge"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

// answers runs a module whose executable does what the script says.
func answers(t *testing.T, script tooltest.Script) (*tooltest.Runtime, *tools.Result, error) {
	t.Helper()
	_, tool := mountLocal(t, module(t, manifest), mount.Options{})
	rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{script}})
	result, err := rt.Run(t.Context(), tool, "my_tool", `{"a":1}`)
	return rt, result, err
}

func TestExecute_Program(t *testing.T) {
	t.Parallel()
	dir := module(t, manifest)
	_, tool := mountLocal(t, dir, mount.Options{})
	rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{"hello\n"}}}})
	result, err := rt.Run(t.Context(), tool, "my_tool", `{"a":1}`)
	if err != nil || result.ModelText() != "hello" {
		t.Fatalf("got %+v, %v", result, err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	program := rt.Procs.Programs()[0]
	if program.Stderr == nil {
		t.Error("errors go where the result goes")
	}
	program.Stderr = nil
	want := tools.Program{
		Args: []string{filepath.Join(real, "run.sh"), "execute"}, Dir: tooltest.Workspace, Stdin: []byte(`{"a":1}`),
		Env: []string{"TOOLBOX_ACTION=execute", "AGENT=acp-agent", `TOOLBOX_CONFIG={"k":1}`, "AGENT_THREAD_ID=" + rt.Session().ID},
	}
	if diff := cmp.Diff(want, program); diff != "" {
		t.Errorf("program (-want +got)\n%s", diff)
	}
}

func TestExecute_Results(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, output, text, failure string }{
		{"text", "one\ntwo\n", "one\ntwo", ""},
		{"nothing", "", "", ""},
		{"JSON of its own", `{"status":"done","count":3}`, `{"status":"done","count":3}`, ""},
		{"success of its own", `{"success":true,"count":3}`, `{"success":true,"count":3}`, ""},
		{"Amp", `{"status":"done","result":{"count":3}}`, `{"count":3}`, ""},
		{"Amp text", ` {"status":"done","result":"x"} ` + "\n", "x", ""},
		{"Amp error", `{"status":"error","error":{"message":"no such file","errorCode":"e"}}`, "", "no such file"},
		{"Amp cancelled", `{"status":"cancelled"}`, "", "did not say why"},
		{"Amp going on", `{"status":"in-progress"}`, "", "not the end of a call"},
		{"Amplifier", `{"success":true,"output":7,"error":null}`, "7", ""},
		{"Amplifier error", `{"success":false,"error":{"message":"bad","type":"ValueError"}}`, "", "bad"},
		{"envelope", `{"type":"output","data":[1],"metadata":{"duration_ms":1}}`, "[1]", ""},
		{"envelope with an error", `{"type":"error","error_text":"bad"}`, "", "bad"},
		{"malformed failure", `{"success":false,"error":"boom"}`, "", "not well-formed"},
		{"malformed envelope", `{"type":"error","error_text":"bad","data":1}`, "", "not well-formed"},
		{"broken JSON", `{"status":`, `{"status":`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, result, err := answers(t, tooltest.Script{Output: []string{tt.output}})
			if tt.failure != "" {
				var failure *tools.Error
				if !errors.As(err, &failure) || !strings.Contains(failure.Error(), tt.failure) {
					t.Errorf("got %+v, %v; want %q", result, err, tt.failure)
				}
				return
			}
			if err != nil || result.ModelText() != tt.text {
				t.Errorf("got %+v, %v; want %q", result, err, tt.text)
			}
		})
	}
}

func TestExecute_Failures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		script    tooltest.Script
		want, typ string
	}{
		{"exit code", tooltest.Script{Output: []string{"why\n"}, ExitCode: 3}, "my-tool failed with exit code 3\nwhy", ""},
		{"signal", tooltest.Script{Signal: "SIGSEGV"}, "my-tool was ended by signal SIGSEGV", ""},
		{"a failure of its own", tooltest.Script{Output: []string{`{"success":false,"error":{"message":"m","type":"T"}}`}, ExitCode: 1}, "m", "T"},
		{"a success in spite of the code", tooltest.Script{Output: []string{`{"success":true,"output":"x"}`}, ExitCode: 1}, "exit code 1", ""},
		{"cannot be started", tooltest.Script{Err: errors.New("no such program")}, "no such program", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, result, err := answers(t, tt.script)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %+v, %v; want %q", result, err, tt.want)
			}
			var foreign *bridge.Foreign
			if errors.As(err, &foreign) != (tt.typ != "") || foreign != nil && foreign.Type != tt.typ {
				t.Errorf("cause %+v, want type %q", foreign, tt.typ)
			}
		})
	}
}

// R104: the first 50,000 characters, the rest in a sidecar.
func TestExecute_Stream(t *testing.T) {
	t.Parallel()
	const mark = "\n[Output truncated - exceeded 50KB limit]"
	for name, size := range map[string]int{"kept in memory": 60_000, "spooled": 3_000_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := strings.Repeat("é", size)
			rt, result, err := answers(t, tooltest.Script{Output: []string{whole[:101], whole[101 : 400_000%len(whole)], whole[400_000%len(whole):]}})
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Repeat("é", 50_000) + mark; result.ModelText() != want || !result.Truncated {
				t.Errorf("text of %d bytes, truncated %v", len(result.ModelText()), result.Truncated)
			}
			if rt.Sidecars()[result.OutputPath] != whole {
				t.Errorf("the sidecar holds %d bytes of %d", len(rt.Sidecars()[result.OutputPath]), len(whole))
			}
		})
	}
	_, result, err := answers(t, tooltest.Script{Output: []string{strings.Repeat("x", 50_000)}})
	if err != nil || result.Truncated || len(result.ModelText()) != 50_000 {
		t.Errorf("50,000 characters: %v, %v", result.Truncated, err)
	}
	if _, _, err = answers(t, tooltest.Script{Output: []string{strings.Repeat("x", 60_000)}, ExitCode: 1}); err == nil || !strings.Contains(err.Error(), mark) {
		t.Errorf("a long failure: %.100v", err)
	}
}

func TestExecute_NoSidecar(t *testing.T) {
	t.Parallel()
	_, tool := mountLocal(t, module(t, manifest), mount.Options{})
	rt := tooltest.New(tooltest.Options{Quota: -1, Processes: []tooltest.Script{{Output: []string{strings.Repeat("x", 2<<20)}}}})
	result, err := rt.Run(t.Context(), tool, "my_tool", `{}`)
	if err != nil || !result.Truncated || !strings.Contains(result.ModelText(), "The rest could not be kept: no room") {
		t.Errorf("got %v", err)
	}
}

func TestExecute_Timeout(t *testing.T) {
	dir := module(t, strings.TrimSuffix(manifest, "}")+`,"timeout_ms":700}`)
	_, tool := mountLocal(t, dir, mount.Options{})
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Hang: true}}})
		_, err := rt.Run(t.Context(), tool, "my_tool", `{}`)
		var failure *tools.Error
		if !errors.As(err, &failure) || failure.Kind != tools.Timeout || time.Since(start) != 700*time.Millisecond {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

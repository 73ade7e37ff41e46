package builtin_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

func checks() tools.Tool {
	return builtin.NewCheck(builtin.Check{Name: "vet", Cmd: "go vet ./..."}, builtin.Check{Name: "test", Cmd: "go test ./..."})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	passed := func(name, cmd, output string) map[string]any {
		return map[string]any{"name": name, "cmd": cmd, "exit_code": 0.0, "ok": true, "output": output}
	}
	tests := []struct {
		name, called, args string
		scripts            []tooltest.Script
		want               map[string]any
		text               string
		runs               []string
	}{
		{
			"all pass", "check", `{}`,
			[]tooltest.Script{{Output: []string{"fine\n"}}},
			map[string]any{"ok": true, "checks": []any{passed("vet", "go vet ./...", "fine\n"), passed("test", "go test ./...", "fine\n")}},
			"vet: passed\ntest: passed",
			[]string{"go vet ./...", "go test ./..."},
		},
		{
			"one fails, the rest runs", "Check", `{}`,
			[]tooltest.Script{{Cmd: "go vet ./...", Output: []string{"\x1b[31mbad\x1b[0m\n"}, ExitCode: 2}, {}},
			map[string]any{"ok": false, "checks": []any{
				map[string]any{"name": "vet", "cmd": "go vet ./...", "exit_code": 2.0, "ok": false, "output": "bad\n"},
				passed("test", "go test ./...", ""),
			}},
			"vet: failed (exit code 2)\n<command>go vet ./...</command>\n<output>bad\n</output>\ntest: passed",
			[]string{"go vet ./...", "go test ./..."},
		},
		{
			"one by name, ended by a signal", "check", `{"name":"test"}`,
			[]tooltest.Script{{ExitCode: 137, Signal: "SIGKILL"}},
			map[string]any{"ok": false, "checks": []any{
				map[string]any{"name": "test", "cmd": "go test ./...", "exit_code": 137.0, "signal": "SIGKILL", "ok": false, "output": ""},
			}},
			"test: failed (SIGKILL)",
			[]string{"go test ./..."},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Processes: tt.scripts})
			result, err := rt.Run(t.Context(), checks(), tt.called, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, data(t, result)); d != "" {
				t.Errorf("data (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.text, result.ModelText()); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
			var runs []string
			for _, c := range rt.Procs.Calls() {
				runs = append(runs, c.Text)
				if c.Dir != tooltest.Workspace {
					t.Errorf("%s ran in %s", c.Text, c.Dir)
				}
			}
			if d := cmp.Diff(tt.runs, runs); d != "" {
				t.Errorf("runs (-want +got):\n%s", d)
			}
			if shown := rt.Shown(); !strings.HasPrefix(shown, "$ "+tt.runs[0]+"\n") {
				t.Errorf("progress %q", shown)
			}
		})
	}
}

func TestCheck_LargeOutput(t *testing.T) {
	t.Parallel()
	large := "first line\n" + strings.Repeat("more of it\n", 100_000) + "last line\n"
	rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{large}, ExitCode: 1}}})
	result, err := rt.Run(t.Context(), checks(), "check", `{"name":"vet"}`)
	if err != nil {
		t.Fatal(err)
	}
	outcome := data(t, result)["checks"].([]any)[0].(map[string]any)
	output, _ := outcome["output"].(string)
	if len(output) > 25_000 || !strings.HasPrefix(output, "first line\n") || !strings.HasSuffix(output, "last line\n") {
		t.Errorf("output of %d bytes: %.40q", len(output), output)
	}
	path, _ := outcome["output_path"].(string)
	if outcome["truncated"] != true || rt.Sidecars()[path] != large {
		t.Errorf("the whole output is not in %q", path)
	}
}

func TestCheck_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, args string
		tool       tools.Tool
		scripts    []tooltest.Script
		kind       tools.ErrorKind
		want       string
	}{
		{"none configured", `{}`, builtin.NewCheck(), nil, tools.Unavailable, `under "checks" in the configuration`},
		{"unknown", `{"name":"lint"}`, checks(), nil, tools.BadInput, `no check "lint"; there are vet, test`},
		{"cannot run", `{}`, checks(), []tooltest.Script{{Err: errors.New("no shell")}}, tools.Backend, "check: vet could not be run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Processes: tt.scripts})
			_, err := rt.Run(t.Context(), tt.tool, "check", tt.args)
			failure, ok := errors.AsType[*tools.Error](err)
			if !ok || failure.Kind != tt.kind || !strings.Contains(failure.Error(), tt.want) {
				t.Errorf("error %v, want %s with %q", err, tt.kind, tt.want)
			}
		})
	}
}

// A cancelled run returns what it has, and runs nothing more.
func TestCheck_Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{
		Output: []string{"half\n"}, Hang: true, Do: func(context.Context) { time.AfterFunc(time.Millisecond, cancel) },
	}}})
	result, err := rt.Run(ctx, checks(), "check", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	want := "vet: stopped before it ended\n<command>go vet ./...</command>\n<output>half\n</output>\n1 more not run"
	if d := cmp.Diff(want, result.ModelText()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !result.Partial || len(rt.Procs.Calls()) != 1 {
		t.Errorf("partial = %v after %d runs", result.Partial, len(rt.Procs.Calls()))
	}
}

// Rules judge each command, and the tool has no time limit (R103).
func TestCheck_Spec(t *testing.T) {
	t.Parallel()
	tool := checks()
	tooltest.Conform(t, tool)
	env := tooltest.New(tooltest.Options{}).Sess.Env
	for args, want := range map[string][]tools.Resource{
		`{}`: {
			{Kind: tools.Command, Value: "go vet ./...", Dir: tooltest.Workspace},
			{Kind: tools.Command, Value: "go test ./...", Dir: tooltest.Workspace},
		},
		`{"name":"test"}`: {{Kind: tools.Command, Value: "go test ./...", Dir: tooltest.Workspace}},
		`{"name":"lint"}`: nil,
	} {
		if d := cmp.Diff(want, tool.Resources(tools.NewArgs(args), env)); d != "" {
			t.Errorf("%s (-want +got):\n%s", args, d)
		}
	}
	if !tool.DisableTimeout {
		t.Error("it has a time limit")
	}
}

// The question shows the user the commands. A check that does not exist is not
// asked about.
func TestCheck_Preview(t *testing.T) {
	t.Parallel()
	check := checks()
	content, err := check.Preview(t.Context(), nil, tools.NewArgs(`{"name":"test"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []kinds.Content{kinds.Text{Text: "**test**\n\n```sh\ngo test ./...\n```"}}
	if d := cmp.Diff(want, content); d != "" {
		t.Errorf("card (-want +got):\n%s", d)
	}
	_, err = check.Preview(t.Context(), nil, tools.NewArgs(`{"name":"lint"}`))
	failure, ok := errors.AsType[*tools.Error](err)
	if !ok || failure.Kind != tools.BadInput {
		t.Errorf("preview of an unknown check gives %v, want an error of the input", err)
	}
}

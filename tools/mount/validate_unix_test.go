//go:build unix

package mount_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

// realProcesses starts programs on this machine, in a directory of the test.
type realProcesses struct {
	tools.Processes
	dir string
}

func (p realProcesses) Exec(ctx context.Context, program tools.Program, output io.Writer) (tools.Exit, error) {
	cmd := exec.CommandContext(ctx, program.Args[0], program.Args[1:]...)
	cmd.Dir, cmd.Env = p.dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir}, program.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(program.Stdin), output, program.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return tools.Exit{Code: exit.ExitCode()}, nil
	}
	return tools.Exit{}, err
}

type realRuntime struct {
	*tooltest.Runtime
	dir string
}

func (r realRuntime) Processes() tools.Processes { return realProcesses{dir: r.dir} }

// examples copies a directory of testdata to where no one else can change it,
// whatever the checkout's modes are.
func examples(t *testing.T, name string) string {
	t.Helper()
	dir, from := t.TempDir(), filepath.Join("..", "..", "testdata", name)
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		if d.IsDir() {
			return errors.Join(os.MkdirAll(to, 0o755), os.Chmod(to, 0o755))
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if bytes.HasPrefix(text, []byte("#!")) {
			mode = 0o755
		}
		return errors.Join(os.WriteFile(to, text, mode), os.Chmod(to, mode))
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func describe(ctx context.Context, call mount.Describing) ([]byte, error) {
	cmd := exec.CommandContext(ctx, call.Args[0], call.Args[1:]...)
	cmd.Dir, cmd.Env = call.Dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + call.Dir}, call.Env...)
	return cmd.Output()
}

func need(t *testing.T, program string) {
	t.Helper()
	if err := exec.Command(program, "--version").Run(); err != nil {
		testreq.Skip(t, program+" does not run here")
	}
}

func validating(t *testing.T, work string) mount.ValidateOptions {
	o := mount.ValidateOptions{
		Options: mount.Options{Describe: describe}, Check: tooltest.Check,
		Runtime: func(string, string) (tools.Runtime, func()) {
			return realRuntime{tooltest.New(tooltest.Options{}), work}, func() {}
		},
	}
	o.Builtin = mount.Builtins(builtin.All())
	return o
}

// The example modules do what they say.
func TestExamples(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, program, module, tool, args, want, failure string }{
		{"a script", "bash", "count_files", "count_files", `{"pattern":"*.go"}`, `{"count":2}`, ""},
		{"a script that is asked badly", "bash", "count_files", "count_files", `{"pattern":"a\"b"}`, "", "pattern is required, as plain text"},
		{"a program that describes itself", "python3", "word_count", "word_count", `{"text":"one two three"}`, `{"words": 3, "unit": "words"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			need(t, tt.program)
			work := t.TempDir()
			for _, name := range []string{"a.go", "b.go", "c.txt"} {
				put(t, filepath.Join(work, name), "", 0o644)
			}
			dir := examples(t, "modules")
			text, err := os.ReadFile(filepath.Join(dir, "mount.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			plan, err := mount.ParsePlan(text, "mount.yaml")
			if err != nil {
				t.Fatal(err)
			}
			o := validating(t, work).Options
			o.Dir = dir
			m := mount.Run(t.Context(), plan, o)
			for _, tool := range m.Tools() {
				if tool.ID != tt.tool {
					continue
				}
				fake := tooltest.New(tooltest.Options{})
				result, err := tool.Run(t.Context(), realRuntime{fake, work}, tools.NewArgs(tt.args))
				if tt.failure != "" {
					if err == nil || !strings.Contains(err.Error(), tt.failure) {
						t.Errorf("got %+v, %v; want %q", result, err, tt.failure)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.ReplaceAll(result.ModelText(), " ", ""); got != strings.ReplaceAll(tt.want, " ", "") {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				return
			}
			t.Errorf("%s is not mounted: %v", tt.tool, m.Failures())
		})
	}
}

// R164: what is sound passes, and what is broken says why.
func TestValidate(t *testing.T) {
	t.Parallel()
	need(t, "bash")
	dir := examples(t, "modules")
	put(t, filepath.Join(dir, "bad.yaml"), "tools:\n- module: read\n- module: read\n- module: nope\n- module: write\n  config: {x: 1}\n", 0o644)
	put(t, filepath.Join(dir, "good.jsonc"), `{"tools": [{"module": "read"}, /* quiet */ {"module": "grep"}]}`, 0o644)
	put(t, filepath.Join(dir, "broken.yaml"), "tool: []\n", 0o644)
	put(t, filepath.Join(dir, "empty.yaml"), "tools: []\n", 0o644)
	tests := []struct {
		name, target string
		ok           bool
		want         []string
	}{
		{"a module", "count_files", true, []string{
			"ok   count_files: mount", "ok   count_files: name: snake_case and unique", "ok   count_files: schema",
			"ok   count_files: errors: faulty arguments are a failed result", "ok   count_files: events: count_files:completed, count_files:error", "ok   cleanup",
		}},
		{"a module that breaks the contract", "broken", false, []string{
			"FAIL broken: errors: it succeeds with the arguments {}, which its schema forbids", "warn broken: events",
		}},
		{"an undefined variable", "undefined_variable", false, []string{`FAIL undefined_variable: mount: requires: fs.read: pattern "{workspce}/src/**": undefined variable {workspce}`}},
		{"a plan", "good.jsonc", true, []string{"ok   plan", "ok   read: contract: errors are handled", "ok   grep: mount"}},
		{"a plan with mistakes", "bad.yaml", false, []string{
			"ok   read: mount", "FAIL read: mount: a module of this name is mounted already", "FAIL nope: mount: there is no built-in module",
			`FAIL write: mount: config: unknown key "x"`,
		}},
		{"a plan that is none", "broken.yaml", false, []string{"FAIL plan: ", `broken.yaml:1:1: unknown key "tool"`}},
		{"an empty plan", "empty.yaml", false, []string{"names no modules"}},
		{"nothing", "missing", false, []string{"there is no file or directory"}},
		{"a directory with a plan", "word_count/..", true, []string{"ok   count-files: mount"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.target == "word_count/.." {
				need(t, "python3") // its plan mounts word-count
			}
			report := mount.Validate(t.Context(), filepath.Join(dir, tt.target), validating(t, t.TempDir()))
			if report.OK() != tt.ok {
				t.Errorf("OK = %v\n%s", report.OK(), report)
			}
			for _, line := range tt.want {
				if !strings.Contains(report.String(), line) {
					t.Errorf("no line with %q in\n%s", line, report)
				}
			}
		})
	}
}

func TestValidate_Quiet(t *testing.T) {
	t.Parallel()
	dir := module(t, manifest)
	report := mount.Validate(t.Context(), dir, mount.ValidateOptions{})
	if !report.OK() || !strings.Contains(report.String(), "warn my_tool: errors: not executed") {
		t.Errorf("report\n%s", report)
	}
	empty := mount.Validate(t.Context(), t.TempDir(), mount.ValidateOptions{})
	if empty.OK() || !strings.Contains(empty.String(), "neither tool.json nor a mount plan") {
		t.Errorf("report\n%s", empty)
	}
	if (mount.Report{}).OK() {
		t.Error("a report without checks is fine")
	}
	check := mount.Check{Name: "n", Detail: "two\nlines"}
	if diff := cmp.Diff("FAIL n: two; lines", check.String()); diff != "" {
		t.Errorf("line (-want +got)\n%s", diff)
	}
}

package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

func bashNames() []string { return []string{"bash", "Bash"} }

func TestBash(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   map[string]any
		script tooltest.Script
		want   string
		data   map[string]any
	}{
		{
			"output",
			map[string]any{"cmd": "ls -la", "cwd": "/test-workspace/sub"},
			tooltest.Script{Output: []string{"total 48\n", "a.txt\n"}},
			"<command>ls -la</command>\n<working_directory>/test-workspace/sub</working_directory>\n<output>total 48\na.txt\n</output>\n<exit_code>0</exit_code>",
			map[string]any{"command": "ls -la", "cwd": "/test-workspace/sub", "output": "total 48\na.txt\n", "exit_code": 0.0},
		},
		{
			"exit code is not an error",
			map[string]any{"cmd": "false"},
			tooltest.Script{ExitCode: 3},
			"<command>false</command>\n<working_directory>/test-workspace</working_directory>\n<output></output>\n<exit_code>3</exit_code>",
			map[string]any{"command": "false", "cwd": "/test-workspace", "output": "", "exit_code": 3.0},
		},
		{
			"signal",
			map[string]any{"cmd": "crash"},
			tooltest.Script{ExitCode: 139, Signal: "SIGSEGV"},
			"<command>crash</command>\n<working_directory>/test-workspace</working_directory>\n<output></output>\n<exit_code>139</exit_code>\n<signal>SIGSEGV</signal>",
			map[string]any{"command": "crash", "cwd": "/test-workspace", "output": "", "exit_code": 139.0, "signal": "SIGSEGV"},
		},
		{
			"other argument names",
			map[string]any{"command": "pwd", "workdir": "/test-workspace/sub"},
			tooltest.Script{},
			"<command>pwd</command>\n<working_directory>/test-workspace/sub</working_directory>\n<output></output>\n<exit_code>0</exit_code>",
			map[string]any{"command": "pwd", "cwd": "/test-workspace/sub", "output": "", "exit_code": 0.0},
		},
		{
			"terminal codes",
			map[string]any{"cmd": "make"},
			tooltest.Script{Output: []string{"\x1b[31mred\x1b[0m\r\n10%\r20%\n\x1b]0;title\x07bad\xff\x00\a\b tab\t\x1b(B\u009b\n"}},
			"<command>make</command>\n<working_directory>/test-workspace</working_directory>\n<output>red\n10%\n20%\nbad\ufffd tab\t\n</output>\n<exit_code>0</exit_code>",
			map[string]any{"command": "make", "cwd": "/test-workspace", "output": "red\n10%\n20%\nbad\ufffd tab\t\n", "exit_code": 0.0},
		},
	}
	under(t, bashNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Limits: &limits, Files: map[string]string{"sub/x": ""}, Processes: []tooltest.Script{tt.script}})
				result := run(t, rt, name, tt.args)
				if diff := cmp.Diff(tt.want, result.ModelText()); diff != "" {
					t.Errorf("model text (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.data, data(t, result)); diff != "" {
					t.Errorf("data (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(strings.Join(tt.script.Output, ""), rt.Shown()); diff != "" {
					t.Errorf("progress (-want +got):\n%s", diff)
				}
				if len(rt.Sidecars()) > 0 {
					t.Errorf("a sidecar was made for a small output")
				}
			})
		}
	})
}

func TestBash_Preprocess(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, cmd, cwd, wantCmd, wantCwd string }{
		{"plain", "go test", "", "go test", "/test-workspace"},
		{"background", "sleep 9 & ", "", "sleep 9", "/test-workspace"},
		{"not an and", "a && b", "", "a && b", "/test-workspace"},
		{"quoted ampersand", "echo 'x &'", "", "echo 'x &'", "/test-workspace"},
		{"redirection", "make 2>&1", "", "make 2>&1", "/test-workspace"},
		{"cd", "cd sub && make", "", "make", "/test-workspace/sub"},
		{"cd twice", "cd sub && cd deep && make", "", "make", "/test-workspace/sub/deep"},
		{"cd quoted", `cd "my dir" && make`, "", "make", "/test-workspace/my dir"},
		{"cd absolute", "cd /test-workspace/sub && make", "", "make", "/test-workspace/sub"},
		{"cd home", "cd ~/p && make", "", "make", "/home/tester/p"},
		{"cd from cwd", "cd deep && make", "/test-workspace/sub", "make", "/test-workspace/sub/deep"},
		{"cd to a variable", "cd $X && make", "", "cd $X && make", "/test-workspace"},
		{"cd back", "cd - && make", "", "cd - && make", "/test-workspace"},
		{"home in cwd", "make", "~/p", "make", "/home/tester/p"},
		{"relative cwd", "make", "sub", "make", "/test-workspace/sub"},
	}
	files := map[string]string{"sub/deep/x": "", "my dir/x": "", "/home/tester/p/x": ""}
	under(t, bashNames(), func(t *testing.T, limits tools.Limits, name string) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				rt := tooltest.New(tooltest.Options{Files: files, Limits: &limits, Processes: []tooltest.Script{{}}})
				args := map[string]any{"cmd": tt.cmd}
				if tt.cwd != "" {
					args["cwd"] = tt.cwd
				}
				result := run(t, rt, name, args)
				if diff := cmp.Diff([]tools.ShellCommand{{Text: tt.wantCmd, Dir: tt.wantCwd}}, rt.Procs.Calls()); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				want := "<command>" + tt.wantCmd + "</command>\n<working_directory>" + tt.wantCwd + "</working_directory>\n"
				if !strings.HasPrefix(result.ModelText(), want) {
					t.Errorf("model text = %q, want it to begin with %q", result.ModelText(), want)
				}
				// What is judged is what ran (R21).
				bash := tool(t, "bash")
				_, ready, err := tooltest.Prepare(bash, name, encode(t, args), rt.Sess.Env)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(
					[]tools.Resource{{Kind: tools.Command, Value: tt.wantCmd, Dir: tt.wantCwd}}, bash.Resources(ready, rt.Sess.Env),
				); diff != "" {
					t.Errorf("resources (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestBash_Errors(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{
		Files:     map[string]string{"file": ""},
		Processes: []tooltest.Script{{Cmd: "boom", Err: errors.New("fork: no memory")}, {}},
	})
	tests := []struct {
		name string
		args map[string]any
		kind tools.ErrorKind
		want string
	}{
		{"empty", map[string]any{"cmd": " \n"}, tools.BadInput, "bash: cmd must not be empty"},
		{"control character", map[string]any{"cmd": "echo \x1b[2J"}, tools.BadInput, "bash: command text: control character U+001B at byte 5"},
		{"no directory", map[string]any{"cmd": "ls", "cwd": "nope"}, tools.BadInput, "the working directory /test-workspace/nope does not exist"},
		{"file as directory", map[string]any{"cmd": "ls", "cwd": "file"}, tools.BadInput, "the working directory /test-workspace/file is not a directory"},
		{"cannot start", map[string]any{"cmd": "boom"}, tools.Backend, `bash: the command could not be run: start "boom": fork: no memory`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			failure := fail(t, rt, "bash", tt.args)
			if failure.Kind != tt.kind || failure.Message != tt.want {
				t.Errorf("error = %s %q, want %s %q", failure.Kind, failure.Message, tt.kind, tt.want)
			}
		})
	}
}

// countedOutput is output of n bytes in which every line is different.
func countedOutput(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "line %08d\n", i)
	}
	return b.String()[:n]
}

// pieces cuts text as a pipe may deliver it.
func pieces(text string, size int) []string {
	var out []string
	for len(text) > 0 {
		n := min(size, len(text))
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

func TestBash_Truncation(t *testing.T) {
	t.Parallel()
	limits := tools.CanonicalLimits()
	for _, name := range bashNames() {
		for _, size := range []int{limits.BashBytes, limits.BashBytes + 1, 300_000, 360_001, 1_000_000} {
			for _, step := range []int{777, 4096, 1 << 20} {
				t.Run(fmt.Sprintf("%s/%d/%d", name, size, step), func(t *testing.T) {
					t.Parallel()
					output := countedOutput(size)
					rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: pieces(output, step), ExitCode: 1}}})
					result := run(t, rt, name, map[string]any{"cmd": "make"})
					object := data(t, result)
					if size <= limits.BashBytes {
						if object["output"] != output || result.Truncated || len(rt.Sidecars()) > 0 {
							t.Errorf("an output within the limit was cut")
						}
						return
					}
					head, tail := output[:limits.BashBytes-limits.BashTail], output[size-limits.BashTail:]
					if object["head"] != head || object["output"] != tail {
						t.Errorf("head has %d bytes, output %d; want %d and %d", len(object["head"].(string)), len(object["output"].(string)), len(head), len(tail))
					}
					if object["truncated"] != true || !result.Truncated || object["exit_code"] != 1.0 {
						t.Errorf("truncated = %v, %v; exit code %v", object["truncated"], result.Truncated, object["exit_code"])
					}
					if rt.Sidecars()[result.OutputPath] != output {
						t.Errorf("the sidecar is not the whole output")
					}
					mark := fmt.Sprintf("[%d bytes of output left out here; the whole output is in %s]\n", size-limits.BashBytes, result.OutputPath)
					if !strings.HasSuffix(head, "\n") {
						mark = "\n" + mark
					}
					want := "<output>" + head + mark + tail + "</output>\n<exit_code>1</exit_code>"
					if !strings.HasSuffix(result.ModelText(), want) {
						t.Errorf("the text is not head, mark and tail")
					}
				})
			}
		}
	}
}

// In profile amp the last 50,000 characters are all that is shown.
func TestBash_TruncationTailOnly(t *testing.T) {
	t.Parallel()
	limits := tools.AmpLimits()
	for _, name := range bashNames() {
		for _, size := range []int{50_000, 50_001, 199_999, 300_000} {
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				t.Parallel()
				output := countedOutput(size)
				rt := tooltest.New(tooltest.Options{Limits: &limits, Processes: []tooltest.Script{{Output: pieces(output, 1000)}}})
				result := run(t, rt, name, map[string]any{"cmd": "make"})
				object := data(t, result)
				if object["output"] != output[max(0, size-limits.BashTail):] {
					t.Errorf("output has %d bytes", len(object["output"].(string)))
				}
				head, given := object["head"]
				if cut := size > limits.BashTail; result.Truncated != cut || given != cut || cut && head != "" {
					t.Errorf("truncated = %v, head = %v", result.Truncated, head)
				}
				if result.Truncated && rt.Sidecars()[result.OutputPath] != output {
					t.Errorf("the sidecar is not the whole output")
				}
			})
		}
	}
}

// Cuts fall between characters; a character of several bytes counts once.
func TestBash_TruncationKeepsCharacters(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"é", "€", "😀", "a😀é"} {
		output := strings.Repeat(unit, 400_000/len(unit))
		rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: pieces(output, 1001)}}})
		result := run(t, rt, "bash", map[string]any{"cmd": "make"})
		object := data(t, result)
		tail, head := object["output"].(string), object["head"].(string)
		if got := utf8.RuneCountInString(tail); got != 50_000 {
			t.Errorf("%s: the tail has %d characters, want 50000", unit, got)
		}
		if strings.Contains(head+tail, "\ufffd") || len(head)+len(tail) > 204_800 {
			t.Errorf("%s: %d bytes are shown, a character was split: %v", unit, len(head)+len(tail), strings.Contains(head+tail, "\ufffd"))
		}
		if !strings.HasPrefix(output, head) || !strings.HasSuffix(output, tail) {
			t.Errorf("%s: head or tail are not the ends of the output", unit)
		}
	}
}

func TestBash_SidecarQuota(t *testing.T) {
	t.Parallel()
	output := countedOutput(300_000)
	script := []tooltest.Script{{Output: pieces(output, 4096)}}
	rt := tooltest.New(tooltest.Options{Processes: script, Quota: 250_000})
	result := run(t, rt, "bash", map[string]any{"cmd": "make"})
	if !strings.Contains(result.ModelText(), "but for its last 50000 bytes is in "+result.OutputPath) {
		t.Errorf("the model is not told what the quota refused")
	}
	rt = tooltest.New(tooltest.Options{Processes: script, Quota: -1})
	result = run(t, rt, "bash", map[string]any{"cmd": "make"})
	if !result.Truncated || result.OutputPath != "" || !strings.Contains(result.ModelText(), "could not be kept: no room") {
		t.Errorf("truncated %v, path %q", result.Truncated, result.OutputPath)
	}
	if data(t, result)["output"] != output[len(output)-50_000:] {
		t.Errorf("the tail is lost with the sidecar")
	}
}

// A cancelled command gives what it had written.
func TestBash_Cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{
		Output: []string{"half\n"}, Hang: true, Do: func(context.Context) { cancel() },
	}}})
	result, err := rt.Run(ctx, tool(t, "bash"), "bash", `{"cmd":"make"}`)
	if err != nil {
		t.Fatal(err)
	}
	object := data(t, result)
	if object["output"] != "half\n" || object["exit_code"] != nil {
		t.Errorf("data = %v", object)
	}
	if strings.Contains(result.ModelText(), "<exit_code>") || !strings.Contains(result.ModelText(), "stopped before it ended") {
		t.Errorf("text = %q", result.ModelText())
	}
}

func TestBash_TimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits := tools.CanonicalLimits()
		limits.BashTimeout = 30 * time.Second
		rt := tooltest.New(tooltest.Options{Limits: &limits, Processes: []tooltest.Script{{Output: []string{"half\n"}, Hang: true}}})
		failure := fail(t, rt, "bash", map[string]any{"cmd": "make"})
		if failure.Kind != tools.Timeout || failure.Message != "Tool execution timed out after 30 seconds" || !strings.Contains(failure.Detail, "half\n") {
			t.Errorf("error = %+v", failure)
		}
	})
}

func TestBash_TimeLimitWithoutAUser(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		edit func(*tools.Limits)
		args map[string]any
		want string
	}{
		{"of the run", func(*tools.Limits) {}, nil, "600"},
		{"asked for", func(*tools.Limits) {}, map[string]any{"timeout": 900}, "900"},
		{"of the user", func(l *tools.Limits) { l.BashTimeout = time.Hour }, nil, "3600"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limits := tools.CanonicalLimits()
				limits.BashDefault = 10 * time.Minute
				tt.edit(&limits)
				rt := tooltest.New(tooltest.Options{Limits: &limits, Processes: []tooltest.Script{{Hang: true}}})
				args := map[string]any{"cmd": "make"}
				maps.Copy(args, tt.args)
				if got, want := fail(t, rt, "bash", args).Message, "Tool execution timed out after "+tt.want+" seconds"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			})
		})
	}
}

func TestBash_Spec(t *testing.T) {
	t.Parallel()
	bash := tool(t, "bash")
	if !bash.DisableTimeout || !bash.Profile.Serial || !bash.OwnLimit || bash.ReadOnly {
		t.Errorf("spec = %+v", bash.Spec)
	}
}

func FuzzCleanOutput(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb", "\x1b[1;31mx\x1b[0m", "\x1b]8;;http://x\x1b\\y", "\x1b", "\x1b[", "\x1b]x\ny", "\xff\u009b", "é\r"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := builtin.CleanOutput(raw)
		if !utf8.ValidString(got) {
			t.Fatalf("CleanOutput(%q) = %q is not UTF-8", raw, got)
		}
		for _, r := range got {
			if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f {
				t.Fatalf("CleanOutput(%q) = %q has %U", raw, got, r)
			}
		}
		if again := builtin.CleanOutput(got); again != got {
			t.Fatalf("cleaning %q twice gives %q, then %q", raw, got, again)
		}
		if strings.Count(got, "\n") < strings.Count(raw, "\n") {
			t.Fatalf("CleanOutput(%q) = %q lost a line", raw, got)
		}
	})
}

// A model's own time limit counts, and never beyond the user's.
func TestBash_AskedTimeLimit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limit   time.Duration
		seconds float64
		want    time.Duration
	}{
		{0, 0, 0},
		{time.Minute, 0, time.Minute},
		{0, 1.5, 1500 * time.Millisecond},
		{time.Minute, 5, 5 * time.Second},
		{time.Minute, 600, time.Minute},
		{0, 1e300, 24 * time.Hour},
	} {
		if got := builtin.TimeLimit(tt.limit, tt.seconds); got != tt.want {
			t.Errorf("%v and %v s: got %v, want %v", tt.limit, tt.seconds, got, tt.want)
		}
	}
}

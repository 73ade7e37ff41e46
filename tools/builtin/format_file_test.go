package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

// formatters are the programs of a test by name: what they make of a text, and
// what they say.
type formatters map[string]func(p tools.Program) (out, said string, exit tools.Exit)

// formatRuntime is a Runtime whose programs are formatters.
type formatRuntime struct {
	*tooltest.Runtime
	programs formatters
	ran      *[]tools.Program
}

func newFormatRuntime(programs formatters, files map[string]string) formatRuntime {
	return formatRuntime{tooltest.New(tooltest.Options{Files: files}), programs, &[]tools.Program{}}
}

func (r formatRuntime) Processes() tools.Processes { return r }

func (r formatRuntime) Run(context.Context, tools.ShellCommand, io.Writer) (tools.Exit, error) {
	return tools.Exit{}, errors.New("no shell is wanted here")
}

func (r formatRuntime) Exec(ctx context.Context, p tools.Program, output io.Writer) (tools.Exit, error) {
	if err := ctx.Err(); err != nil {
		return tools.Exit{}, err
	}
	f := r.programs[p.Args[0]]
	if f == nil {
		return tools.Exit{}, tools.Errorf(tools.Unavailable, "the program %q is not on the PATH", p.Args[0])
	}
	*r.ran = append(*r.ran, p)
	out, said, exit := f(p)
	_, _ = io.WriteString(output, out)
	_, _ = io.WriteString(p.Stderr, said)
	return exit, nil
}

// upper is a formatter that everybody can check.
func upper(p tools.Program) (string, string, tools.Exit) {
	return strings.ToUpper(string(p.Stdin)), "", tools.Exit{}
}

func format(t *testing.T, rt formatRuntime, own map[string][]string, path string) (*tools.Result, error) {
	t.Helper()
	tool := builtin.NewFormatFile(own)
	_, ready, err := tooltest.Prepare(tool, "format_file", fmt.Sprintf(`{"path":%q}`, path), rt.Sess.Env)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Run(t.Context(), rt, ready)
}

func TestFormatFile(t *testing.T) {
	t.Parallel()
	rt := newFormatRuntime(formatters{"gofmt": upper}, map[string]string{"sub/a.go": "on disk\n"})
	rt.Mem.Edit("sub/a.go", "as the user sees it\n")
	result, err := format(t, rt, nil, "sub/a.go")
	if err != nil {
		t.Fatal(err)
	}
	path, before := "/test-workspace/sub/a.go", "as the user sees it\n"
	want := tools.Program{
		Args: []string{"gofmt"}, Dir: "/test-workspace/sub", Stdin: []byte(before),
		Env: []string{"GOTOOLCHAIN=local", "RUSTUP_TOOLCHAIN=stable", "RUSTUP_AUTO_INSTALL=0"},
	}
	got := (*rt.ran)[0]
	got.Stderr = nil
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("program (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]kinds.Content{kinds.Diff{Path: path, Old: &before, New: "AS THE USER SEES IT\n"}}, result.Content); d != "" {
		t.Errorf("content (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{path}, result.TrackFiles); d != "" {
		t.Errorf("track files (-want +got):\n%s", d)
	}
	object := data(t, result)
	if diff, _ := object["diff"].(string); object["changed"] != true || object["formatter"] != "gofmt" || !strings.Contains(diff, "+AS THE USER") {
		t.Errorf("data %v", object)
	}
	if !strings.HasPrefix(result.ModelText(), "Formatted "+path+" (gofmt)\n") {
		t.Errorf("text %q", result.ModelText())
	}
	again, err := format(t, rt, nil, "sub/a.go")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]kinds.Content{kinds.Text{Text: "```\n" + again.ModelText() + "\n```"}}, again.Content); d != "" {
		t.Errorf("the finished card still shows what would run (-want +got):\n%s", d)
	}
	if text := again.ModelText(); text != path+" is already formatted (gofmt)" || len(rt.Mem.Writes()) != 1 || len(again.TrackFiles) != 0 {
		t.Errorf("the second time: %q, writes %v", text, rt.Mem.Writes())
	}
}

func TestFormatFile_Chooses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path string
		installed  []string
		own        map[string][]string
		want       []string
	}{
		{"the second of two", "a.py", []string{"black"}, nil, []string{"black", "--quiet", "--stdin-filename", "/test-workspace/a.py", "-"}},
		{"the first of two", "a.py", []string{"black", "ruff"}, nil, []string{"ruff", "format", "--stdin-filename", "/test-workspace/a.py", "-"}},
		{
			"without the project's programs", "a.ts",
			[]string{"prettier"},
			nil,
			[]string{"prettier", "--no-config", "--no-editorconfig", "--stdin-filepath", "/test-workspace/a.ts"},
		},
		{"within an argument", "a.C", []string{"clang-format"}, nil, []string{"clang-format", "--assume-filename=/test-workspace/a.C"}},
		{"the user's own", "a.go", []string{"gofumpt", "gofmt"}, map[string][]string{".go": {"gofumpt", "-extra"}}, []string{"gofumpt", "-extra"}},
		{"a language of the user's own", "a.zig", []string{"zig"}, map[string][]string{".zig": {"zig", "fmt", "--stdin"}}, []string{"zig", "fmt", "--stdin"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			programs := formatters{}
			for _, name := range tt.installed {
				programs[name] = upper
			}
			rt := newFormatRuntime(programs, map[string]string{tt.path: "x\n"})
			if _, err := format(t, rt, tt.own, tt.path); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, (*rt.ran)[0].Args); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestFormatFile_Refuses(t *testing.T) {
	t.Parallel()
	files := map[string]string{"a.go": "x\n", "a.py": "x\n", "a.txt": "x\n", "b.go": "x\x00", ".env": "A=1\n"}
	tests := []struct {
		name, path string
		gofmt      func(tools.Program) (string, string, tools.Exit)
		own        map[string][]string
		kind       tools.ErrorKind
		want       string
	}{
		{"complains", "a.go", func(tools.Program) (string, string, tools.Exit) {
			return "half", "a.go:1:1: expected 'package'\n", tools.Exit{Code: 2}
		}, nil, tools.Backend, "gofmt failed on /test-workspace/a.go (exit code 2)\na.go:1:1: expected 'package'\nThe file was left as it is."},
		{"killed", "a.go", func(tools.Program) (string, string, tools.Exit) {
			return "", "", tools.Exit{Code: 137, Signal: "SIGKILL"}
		}, nil, tools.Backend, "(SIGKILL)"},
		{"complains without end", "a.go", func(tools.Program) (string, string, tools.Exit) {
			return "", strings.Repeat("e", 1<<20), tools.Exit{Code: 1}
		}, nil, tools.Backend, "[more was left out]"},
		{"prints nothing", "a.go", func(tools.Program) (string, string, tools.Exit) { return "", "", tools.Exit{} }, nil, tools.Backend, "printed nothing"},
		{"prints without end", "a.go", func(tools.Program) (string, string, tools.Exit) {
			return strings.Repeat("x", 10_000_001), "", tools.Exit{}
		}, nil, tools.BadInput, "exceeds size limit"},
		{"not installed", "a.go", nil, nil, tools.Unavailable, `"gofmt"`},
		{"none of several installed", "a.py", nil, nil, tools.Unavailable, "install one of ruff, black"},
		{"no formatter", "a.txt", upper, nil, tools.Unavailable, `under "format"`},
		{"turned off", "a.go", upper, map[string][]string{".go": {}}, tools.Unavailable, "no formatter is configured for a.go"},
		{"missing", "c.go", upper, nil, tools.BadInput, "ENOENT"},
		{"binary", "b.go", upper, nil, tools.BadInput, "binary"},
		{"secret", ".env", upper, nil, tools.BadInput, "secrets"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			programs := formatters{}
			if tt.gofmt != nil {
				programs["gofmt"] = tt.gofmt
			}
			rt := newFormatRuntime(programs, files)
			_, err := format(t, rt, tt.own, tt.path)
			failure, ok := errors.AsType[*tools.Error](err)
			if !ok || failure.Kind != tt.kind || !strings.Contains(failure.Error(), tt.want) {
				t.Errorf("error %v, want %s with %q", err, tt.kind, tt.want)
			}
			if len(err.Error()) > 5000 {
				t.Errorf("error of %d bytes", len(err.Error()))
			}
			if writes := rt.Mem.Writes(); len(writes) > 0 {
				t.Errorf("wrote %v", writes)
			}
		})
	}
}

// What the user typed while the formatter ran is not lost.
func TestFormatFile_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	rt := newFormatRuntime(nil, map[string]string{"a.go": "x\n"})
	rt.programs = formatters{"gofmt": func(p tools.Program) (string, string, tools.Exit) {
		rt.Mem.Put("a.go", "typed\n")
		return upper(p)
	}}
	if _, err := format(t, rt, nil, "a.go"); err == nil {
		t.Error("no error")
	}
	if got, _ := rt.Mem.Get("a.go"); got != "typed\n" {
		t.Errorf("file %q", got)
	}
}

// The card says what will run (O1), and a rule can name its language alone.
func TestFormatFile_Card(t *testing.T) {
	t.Parallel()
	own := map[string][]string{".zig": {"my fmt", "--in={file}", "it's", "a\nb"}}
	tests := []struct{ name, path, card, language string }{
		{
			"one", "sub/a.go", "Runs\n\n```sh\ngofmt\n```\n\nin the directory\n\n```\n/test-workspace/sub\n```\n\n" +
				"It may run code that this project configures.", ".go",
		},
		{
			"several", "A.PY", "Runs the first of these that is installed\n\n```sh\nruff format --stdin-filename /test-workspace/A.PY -\n" +
				"black --quiet --stdin-filename /test-workspace/A.PY -\n```\n\nin the directory\n\n```\n/test-workspace\n```\n\n" +
				"It may run code that this project configures.", ".py",
		},
		{
			"the user's own", "x y.zig", "Runs\n\n```sh\n'my fmt' '--in=/test-workspace/x y.zig' 'it'\\''s' 'a\nb'\n```\n\nin the directory\n\n" +
				"```\n/test-workspace\n```\n\nIt may run code that this project configures.", ".zig",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := newFormatRuntime(nil, map[string]string{tt.path: "x\n"})
			tool, args := builtin.NewFormatFile(own), []byte(fmt.Sprintf(`{"path":%q}`, tt.path))
			card, err := tool.Preview(t.Context(), rt, tools.NewArgs(args))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]kinds.Content{kinds.Text{Text: tt.card}}, card); d != "" {
				t.Errorf("card (-want +got):\n%s", d)
			}
			path := "/test-workspace/" + tt.path
			want := []tools.Resource{
				{Kind: tools.PathRead, Value: path}, {Kind: tools.PathWrite, Value: path}, {Kind: tools.Executable, Value: tt.language},
			}
			if d := cmp.Diff(want, tool.Resources(tools.NewArgs(args), rt.Sess.Env)); d != "" {
				t.Errorf("resources (-want +got):\n%s", d)
			}
		})
	}
	rt := newFormatRuntime(nil, map[string]string{".env": "A=1\n"})
	for _, path := range []string{"a.txt", ".env", ""} {
		if card, err := builtin.NewFormatFile(nil).Preview(t.Context(), rt, tools.NewArgs(fmt.Sprintf(`{"path":%q}`, path))); err == nil {
			t.Errorf("%q is asked about: %v", path, card)
		}
	}
}

func TestFormatFile_Spec(t *testing.T) {
	t.Parallel()
	tooltest.Conform(t, builtin.NewFormatFile(nil))
}

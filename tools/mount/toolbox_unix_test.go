//go:build unix

package mount_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/capability"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/tooltest"
)

// toolbox writes a directory of scripts that others cannot change, by name with
// what each says of itself.
func toolbox(t *testing.T, scripts map[string]string) (string, mount.Options) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name := range scripts {
		put(t, filepath.Join(dir, name), "#!/bin/sh\n", 0o755)
	}
	return dir, mount.Options{
		Toolbox: mount.Toolbox{Dirs: []string{dir}, Env: []string{"TOKEN=t"}},
		Describe: func(_ context.Context, call mount.Describing) ([]byte, error) {
			want := mount.Describing{Args: call.Args[:1], Dir: dir, Env: []string{"TOOLBOX_ACTION=describe", "AGENT=acp-agent"}}
			if diff := cmp.Diff(want, call); diff != "" {
				t.Errorf("describe (-want +got)\n%s", diff)
			}
			return []byte(scripts[filepath.Base(call.Args[0])]), nil
		},
	}
}

func TestToolbox_Describe(t *testing.T) {
	t.Parallel()
	const textSchema = `{"type":"object","properties":{"dir":{"type":"string","description":"where"},"n":{"type":"integer"}},"required":["dir"],"additionalProperties":false}`
	tests := []struct {
		name, stdout, id, schema string
		types                    []string
	}{
		{"lines", "name: run-tests\ndescription: Runs: all tests.\ndir: string where\nn: integer?\n", "tb__run_tests", textSchema, nil},
		{"lines with spaces and an empty one", "\n name : a \r\ndescription: d\n\ndir: string where\n n: integer optional", "tb__a", textSchema, nil},
		{"marked optional in words", "name: a\ndescription: d\ndir: string where\nn: integer (optional)", "tb__a", textSchema, nil},
		{"no type", "name: a\ndescription: d\nq: what to look for", "tb__a", `{"type":"object","properties":{"q":{"type":"string","description":"what to look for"}},"required":["q"],"additionalProperties":false}`, nil},
		{"types of subagents in a line", "name: a\ndescription: d\nsubagentTypes: fix, explore", "tb__a", `{"type":"object","properties":{},"additionalProperties":false}`, []string{"fix", "explore"}},
		{"short arguments", `{"name":"a","description":"d","args":{"dir":["string","where"],"n":["integer?"]}}`, "tb__a", textSchema, nil},
		{"a schema", `{"name":"tb__a","description":"d","inputSchema":` + textSchema + `,"subagentTypes":["all"]}`, "tb__a", textSchema, []string{"all"}},
		{"no arguments", `{"name":"a","description":"d"}`, "tb__a", `{"type":"object"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, o := toolbox(t, map[string]string{"script.sh": tt.stdout})
			m := mount.Run(t.Context(), nil, o)
			if len(m.Failures()) > 0 {
				t.Fatal(m.Failures()[0])
			}
			registry, err := tools.NewRegistry(m.Tools()...)
			if err != nil {
				t.Fatal(err)
			}
			entry, ok := registry.Get(tt.id)
			if !ok {
				t.Fatalf("tools %v, want %s", ids(m.Tools()), tt.id)
			}
			var got, want any
			decode(t, string(entry.Schema()), &got)
			decode(t, tt.schema, &want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("schema (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tt.types, entry.SubagentTypes); diff != "" {
				t.Errorf("types (-want +got)\n%s", diff)
			}
			if entry.Source != (tools.Source{Kind: tools.Toolbox, Server: "script.sh"}) {
				t.Errorf("source %+v", entry.Source)
			}
			if diff := cmp.Diff(capability.RequirementSet{Capabilities: []string{"shell.run"}}, entry.Requires); diff != "" {
				t.Errorf("requires (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff([]string{dir}, o.LocalDirs(nil)); diff != "" {
				t.Errorf("directories (-want +got)\n%s", diff)
			}
		})
	}
}

// What is wrong with one script is its own failure.
func TestToolbox_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, stdout, want string }{
		{"nothing", "", "with name and description"},
		{"no name", `{"description":"d"}`, "must be snake_case"},
		{"no description", "name: a", "description is missing"},
		{"a name with blanks", "name: run all tests\ndescription: d", "must be snake_case"},
		{"too long with the prefix", "name: a" + strings.Repeat("b", 61) + "\ndescription: d", "at most 64 characters"},
		{"prose", "usage: x\nThis script is good", "line 2 is neither JSON"},
		{"two names", "name: a\nname: b", `line 2: "name" stands twice`},
		{"an argument twice", "name: a\ndescription: d\nx: string\nx: string", `"x" stands twice`},
		{"args and schema", `{"name":"a","description":"d","args":{},"parameters":{}}`, "mean the same"},
		{"an unknown type", `{"name":"a","description":"d","args":{"x":["path","p"]}}`, `not "path"`},
		{"args of another form", `{"name":"a","description":"d","args":{"x":"string"}}`, `must be ["type", "description"]`},
		{"a broken schema", `{"name":"a","description":"d","inputSchema":{"properties":{"a":{"pattern":"("}}}}`, "input schema"},
		{"a list", "[]", "one JSON object"},
		{"another's name", "name: good\ndescription: d", `has mounted a tool named "tb__good" already`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, o := toolbox(t, map[string]string{"a_good.sh": "name: good\ndescription: d", "b_bad.sh": tt.stdout})
			m := mount.Run(t.Context(), nil, o)
			if diff := cmp.Diff([]string{"tb__good"}, ids(m.Tools())); diff != "" {
				t.Errorf("tools (-want +got)\n%s", diff)
			}
			if len(m.Failures()) != 1 {
				t.Fatalf("failures %v", m.Failures())
			}
			got := m.Failures()[0].Error()
			if !strings.HasPrefix(got, "toolbox "+filepath.Join(dir, "b_bad.sh")+": ") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestToolbox_Directories(t *testing.T) {
	t.Parallel()
	const good = "name: good\ndescription: d"
	dir, o := toolbox(t, map[string]string{"good.sh": good, ".hidden": good})
	put(t, filepath.Join(dir, "README.md"), "how", 0o644)
	if err := os.Mkdir(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "missing")
	t.Run("only executables count, and a directory counts once", func(t *testing.T) {
		o := o
		o.Toolbox.Usual = []string{link, missing}
		m := mount.Run(t.Context(), nil, o)
		if diff := cmp.Diff([]string{"tb__good"}, ids(m.Tools())); diff != "" || len(m.Failures()) > 0 {
			t.Errorf("failures %v, tools (-want +got)\n%s", m.Failures(), diff)
		}
	})
	t.Run("a directory that is named must be there", func(t *testing.T) {
		o := o
		o.Toolbox.Dirs = []string{missing, dir}
		m := mount.Run(t.Context(), nil, o)
		if len(m.Tools()) != 1 || len(m.Failures()) != 1 || !strings.HasPrefix(m.Failures()[0].Error(), "toolbox "+missing+": ") {
			t.Errorf("tools %v, failures %v", ids(m.Tools()), m.Failures())
		}
	})
	t.Run("nothing is started of too many", func(t *testing.T) {
		full := t.TempDir()
		for i := range 65 {
			put(t, filepath.Join(full, fmt.Sprint(i)), "#!/bin/sh\n", 0o755)
		}
		m := mount.Run(t.Context(), nil, mount.Options{Toolbox: mount.Toolbox{Dirs: []string{full}}, Describe: o.Describe})
		if len(m.Tools()) > 0 || len(m.Failures()) != 1 || !strings.Contains(m.Failures()[0].Error(), "65 executables") {
			t.Errorf("tools %v, failures %v", ids(m.Tools()), m.Failures())
		}
	})
}

// B1: what others can change, or what lies elsewhere, is neither asked nor run.
func TestToolbox_Trust(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(script string) error
		want   string
	}{
		{"for the group", func(s string) error { return os.Chmod(s, 0o775) }, "chmod go-w"},
		{"in a directory for all", func(s string) error { return os.Chmod(filepath.Dir(s), 0o777) }, "chmod go-w"},
		{"not for the owner to run", func(s string) error { return os.Chmod(s, 0o655) }, "chmod u+x"},
		{"a link that leads out", func(s string) error { return errors.Join(os.Remove(s), os.Symlink("/bin/sh", s)) }, "not inside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, o := toolbox(t, map[string]string{"good.sh": "name: good\ndescription: d"})
			tool := mount.Run(t.Context(), nil, o).Tools()[0]
			if err := tt.change(filepath.Join(dir, "good.sh")); err != nil {
				t.Fatal(err)
			}
			o.Describe = func(context.Context, mount.Describing) ([]byte, error) {
				t.Error("it was asked")
				return nil, nil
			}
			m := mount.Run(t.Context(), nil, o)
			if len(m.Failures()) != 1 || !strings.Contains(m.Failures()[0].Error(), tt.want) {
				t.Errorf("failures %v, want %q", m.Failures(), tt.want)
			}
			rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{"ran"}}}})
			if _, err := tool.Run(t.Context(), rt, tools.NewArgs(`{}`)); err == nil || len(rt.Procs.Programs()) > 0 {
				t.Errorf("a changed script ran: %v", err)
			}
		})
	}
}

// Arguments go in the form in which the script described itself, with the variables
// that the user gives.
func TestToolbox_Execute(t *testing.T) {
	t.Parallel()
	const lines = "name: it\ndescription: d\nz: string\na: boolean?\nl: array?\n"
	tests := []struct{ name, stdout, args, stdin, failure string }{
		{"JSON", `{"name":"it","description":"d"}`, `{"z":"1\n2"}`, `{"z":"1\n2"}`, ""},
		{"lines in their order", lines, `{"a":true,"l":[1,"x"],"z":"some: text"}`, "z: some: text\na: true\nl: [1,\"x\"]\n", ""},
		{"a text that would be two arguments", lines, `{"z":"x\na: true"}`, "", "z: this tool takes text of one line only"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir, o := toolbox(t, map[string]string{"it.sh": tt.stdout})
			tool := mount.Run(t.Context(), nil, o).Tools()[0]
			rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{"done\n"}}}})
			result, err := tool.Run(t.Context(), rt, tools.NewArgs(tt.args))
			if tt.failure != "" {
				if err == nil || !strings.Contains(err.Error(), tt.failure) || len(rt.Procs.Programs()) > 0 {
					t.Errorf("got %v, want %q", err, tt.failure)
				}
				return
			}
			if err != nil || result.ModelText() != "done" {
				t.Fatalf("got %+v, %v", result, err)
			}
			got := rt.Procs.Programs()[0]
			got.Stderr = nil
			want := tools.Program{
				Args: []string{filepath.Join(dir, "it.sh")}, Dir: tooltest.Workspace, Stdin: []byte(tt.stdin),
				Env: []string{"TOOLBOX_ACTION=execute", "AGENT=acp-agent", "AGENT_THREAD_ID=" + rt.Session().ID, "TOKEN=t"},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("program (-want +got)\n%s", diff)
			}
		})
	}
}

// The network is the user's to give, never the script's.
func TestToolbox_Network(t *testing.T) {
	t.Parallel()
	_, o := toolbox(t, map[string]string{"it.sh": `{"name":"it","description":"d","requires":{"net":{"hosts":["*"]}}}`})
	for _, network := range []bool{false, true} {
		o.Toolbox.Network = network
		if tool := mount.Run(t.Context(), nil, o).Tools()[0]; tool.Requires.Net.IsZero() == network {
			t.Errorf("network %v: requires %+v", network, tool.Requires)
		}
	}
}

// R104: the first 50,000 characters of a script's output are shown.
func TestToolbox_Truncation(t *testing.T) {
	t.Parallel()
	_, o := toolbox(t, map[string]string{"it.sh": "name: it\ndescription: d"})
	tool := mount.Run(t.Context(), nil, o).Tools()[0]
	for _, size := range []int{50_000, 50_001} {
		rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{strings.Repeat("é", size)}}}})
		result, err := tool.Run(t.Context(), rt, tools.NewArgs(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		text := result.ModelText()
		if cut := strings.Contains(text, "[Output truncated - exceeded 50KB limit]"); cut != (size > 50_000) || strings.Count(text, "é") != 50_000 {
			t.Errorf("%d characters: cut %v, %d shown", size, cut, strings.Count(text, "é"))
		}
	}
}

// The example scripts do what they say, and validate finds nothing wrong with them.
func TestToolbox_Examples(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, program, script, args, want string }{
		{"in bash", "bash", "line_count", `{"pattern":"*.go","longest":true}`, "3 lines\nthe longest is ./b.go"},
		{"in bash, with nothing", "bash", "line_count", `{"pattern":"*.rs"}`, "0 lines"},
		{"in Python", "python3", "word_list.py", `{"text":"b a b\nc","most":2}`, `{"words":[["b",2],["a",1]]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			need(t, tt.program)
			work := t.TempDir()
			put(t, filepath.Join(work, "a.go"), "1\n", 0o644)
			put(t, filepath.Join(work, "b.go"), "1\n2\n", 0o644)
			dir := examples(t, "toolbox")
			o := validating(t, work)
			report := mount.Validate(t.Context(), filepath.Join(dir, tt.script), o)
			if !report.OK() || !strings.Contains(report.String(), "faulty arguments are a failed result") {
				t.Errorf("validate\n%s", report)
			}
			o.Toolbox.Dirs = []string{dir}
			m := mount.Run(t.Context(), nil, o.Options)
			list := m.Tools()
			i := slices.IndexFunc(list, func(tool tools.Tool) bool { return tool.Source.Server == tt.script })
			if i < 0 {
				t.Fatalf("failures %v", m.Failures())
			}
			result, err := list[i].Run(t.Context(), realRuntime{tooltest.New(tooltest.Options{}), work}, tools.NewArgs(tt.args))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(result.ModelText(), ", ", ","); got != tt.want && got != strings.ReplaceAll(tt.want, `":`, `": `) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzDescription holds that whatever a script says of itself is refused or makes a
// sound tool of the toolbox.
func FuzzDescription(f *testing.F) {
	for _, seed := range []string{
		"name: a\ndescription: d\nx: string? y", `{"name":"a","description":"d","args":{"x":["array","y"]}}`, "[]", "\ufeffname:a", "{", ":", "a:\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, stdout string) {
		_, o := toolbox(t, map[string]string{"it.sh": stdout})
		m := mount.Run(t.Context(), nil, o)
		if len(m.Tools())+len(m.Failures()) != 1 {
			t.Fatalf("tools %v, failures %v", ids(m.Tools()), m.Failures())
		}
		for _, tool := range m.Tools() {
			if _, err := tools.NewRegistry(tool); err != nil || !strings.HasPrefix(tool.ID, "tb__") || tool.Source.Kind != tools.Toolbox {
				t.Errorf("tool %+v: %v", tool.Spec, err)
			}
			rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{}}})
			if _, err := tool.Run(t.Context(), rt, tools.NewArgs(`{"x":"a\nb","y":1}`)); err == nil && strings.Count(string(rt.Procs.Programs()[0].Stdin), "\n") > len(tool.Parameters.Properties) {
				t.Errorf("stdin %q", rt.Procs.Programs()[0].Stdin)
			}
		}
	})
}

func decode(t *testing.T, raw string, to *any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), to); err != nil {
		t.Fatal(err)
	}
}

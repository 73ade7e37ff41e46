package builtin_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

// withRipgrep returns a tool that asks a ripgrep first.
func withRipgrep(t *testing.T, path, id string) tools.Tool {
	t.Helper()
	for _, tool := range (builtin.Options{Ripgrep: path}).All() {
		if tool.ID == id {
			return tool
		}
	}
	t.Fatalf("no tool %q", id)
	return tools.Tool{}
}

func TestRipgrep_Conform(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"glob", "grep"} {
		tooltest.Conform(t, withRipgrep(t, "/opt/rg", id))
	}
}

// What ripgrep answers, and what becomes of it. Both tools ask in one way, so
// grep's cases stand for glob's but for the form of the answer.
func TestRipgrep_Answers(t *testing.T) {
	t.Parallel()
	all := "/test-workspace/a.txt:1: hit\n/test-workspace/sub/b.txt:1: hit"
	tests := []struct {
		name, id string
		output   []string
		code     int
		signal   string
		want     string // the model's text, or the error's message and hint
		failed   bool
	}{
		{"all files", "grep", []string{"\x00./sub/b.txt\x001\n./a.txt\x001\n\x00"}, 0, "", all, false},
		{"in small pieces", "grep", strings.Split("\x00./sub/b.txt\x001\n./a.txt\x001\n\x00", ""), 0, "", all, false},
		{"one file", "grep", []string{"\x00./a.txt\x001\n./sub/b.txt\x000\n\x00"}, 0, "", "/test-workspace/a.txt:1: hit", false},
		{"none", "grep", []string{"\x00./a.txt\x000\n\x00"}, 1, "", strings.Join(noResults(), "\n"), false},
		{"nothing at all", "grep", []string{"\x00\x00"}, 1, "", strings.Join(noResults(), "\n"), false},
		{"the shell complains first", "grep", []string{"sh: bad locale\n", "\x00./a.txt\x001\n\x00"}, 0, "", "/test-workspace/a.txt:1: hit", false},
		{"files that have no hit", "grep", []string{"\x00./none.txt\x001\n\x00"}, 0, "", strings.Join(noResults(), "\n"), false},
		{"files that are not there", "grep", []string{"\x00./x/y\x001\n./../../other/c.txt\x001\n\x00"}, 0, "", strings.Join(noResults(), "\n"), false},
		{
			"secret file without a hit", "grep",
			[]string{"\x00./.env\x000\n\x00"},
			1, "",
			strings.Join(append(noResults(), "[1 files that hold secrets were not searched]"), "\n"), false,
		},
		{"glob", "glob", []string{"\x00./sub/b.txt\x00./a.txt\x00./none.txt\x00\x00"}, 0, "", "/test-workspace/a.txt\n/test-workspace/none.txt\n/test-workspace/sub/b.txt", false},
		{"glob finds nothing", "glob", []string{"\x00\x00"}, 1, "", "No files found.", false},

		{"error", "grep", []string{"\x00\x00regex parse error:\n    (\n"}, 2, "", "ripgrep exited with code 2\nregex parse error:\n    (", true},
		{"error after an answer", "grep", []string{"\x00./a.txt\x001\n\x00rg: ./x: Permission denied (os error 13)"}, 2, "", "ripgrep exited with code 2\nrg: ./x: Permission denied (os error 13)", true},
		{"silent error", "grep", nil, 2, "", "ripgrep exited with code 2", true},
		{"another error", "grep", nil, 3, "", "ripgrep exited with code 3", true},
		{"not there", "grep", []string{"\x00\x00sh: /opt/rg: not found"}, 127, "", "ripgrep exited with code 127\nsh: /opt/rg: not found", true},
		{"killed", "grep", []string{"\x00./a.tx"}, 137, "SIGKILL", "ripgrep exited with code 137", true},
		{"glob error", "glob", []string{"\x00\x00no"}, 2, "", "ripgrep exited with code 2\nno", true},

		{"garbage", "grep", []string{"a.txt:1: hit\n"}, 0, "", "/opt/rg did not answer as ripgrep does", true},
		{"empty", "grep", nil, 0, "", "/opt/rg did not answer as ripgrep does", true},
		{"cut short", "grep", []string{"\x00./a.txt\x001\n"}, 0, "", "/opt/rg did not answer as ripgrep does", true},
		{"no number", "grep", []string{"\x00./a.txt\x00one\n\x00"}, 0, "", "/opt/rg did not answer as ripgrep does", true},
		{"not below the directory", "grep", []string{"\x00/etc/passwd\x001\n\x00"}, 0, "", "/opt/rg did not answer as ripgrep does", true},
		{"endless name", "grep", []string{"\x00./" + strings.Repeat("x", 100_000), "\x001\n\x00"}, 0, "", "/opt/rg did not answer as ripgrep does", true},
		{"garbage for glob", "glob", []string{"\x00a\nb\n"}, 0, "", "/opt/rg did not answer as ripgrep does", true},
	}
	args := map[string]string{"grep": `{"pattern":"hit"}`, "glob": `{"filePattern":"**/*.txt"}`}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{
				Files: map[string]string{
					"a.txt": "hit\n", "sub/b.txt": "hit\n", "none.txt": "\n", "/other/c.txt": "hit\n", ".env": "x\n",
					".gitignore": "ignored\n",
				},
				Processes: []tooltest.Script{{Output: tt.output, ExitCode: tt.code, Signal: tt.signal}},
			})
			a := args[tt.id]
			if strings.HasPrefix(tt.name, "secret") {
				a = `{"pattern":"hit","glob":".*"}`
			}
			result, err := rt.Run(t.Context(), withRipgrep(t, "/opt/rg", tt.id), tt.id, a)
			var got string
			if failure, ok := errors.AsType[*tools.Error](err); ok && failure.Kind == tools.Backend {
				got = failure.Error()
			} else if err != nil {
				t.Fatal(err)
			} else {
				got = result.ModelText()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.failed {
				t.Errorf("failed %v, want %v; text (-want +got):\n%s", err != nil, tt.failed, diff)
			}
		})
	}
}

// What would be no search is not asked.
func TestRipgrep_NotAsked(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, id, args, want string }{
		{"bad expression", "grep", `{"pattern":"a(b"}`, "bad pattern"},
		{"line break", "grep", `{"pattern":"a\nb"}`, "a line break cannot match"},
		{"bad glob of grep", "grep", `{"pattern":"a","glob":"[a"}`, "bad pattern"},
		{"bad glob", "glob", `{"filePattern":"[a"}`, "bad pattern"},
		{"single file", "grep", `{"pattern":"hit","path":"a.txt"}`, "a.txt:1: hit"},
		{"foreign directory", "grep", `{"pattern":"hit","path":"/other"}`, "/other/c.txt:1: hit"},
		{"foreign glob", "glob", `{"filePattern":"/other/*"}`, "/other/c.txt"},
		{"too long to ask", "grep", `{"pattern":"hit|` + strings.Repeat("'", 8_000) + `"}`, "a.txt:1: hit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.txt": "hit\n", "/other/c.txt": "hit\n"}})
			result, err := rt.Run(t.Context(), withRipgrep(t, "/opt/rg", tt.id), tt.id, tt.args)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = result.ModelText()
			}
			if !strings.Contains(got, tt.want) || len(rt.Procs.Calls()) > 0 {
				t.Errorf("answer %q, want one with %q; %d commands", got, tt.want, len(rt.Procs.Calls()))
			}
		})
	}
}

// No text of the model's reaches the shell as anything but one word.
func TestRipgrep_Command(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, id, args, want string }{
		{"dash", "grep", `{"pattern":"-v"}`, `'--regexp=(?-u)\x2D(?:V|v)'`},
		{"quotes", "grep", `{"pattern":"'; touch x; '","caseSensitive":true}`, `'--regexp=(?-u)\x27\x3B\x20touch\x20x\x3B\x20\x27'`},
		{"quotes in a glob", "grep", `{"pattern":"x","glob":"*'; touch x; '"}`, `'--regexp=(?-u)(?:X|x)' '--no-config'`},
		{"name", "grep", `{"pattern":"x","glob":"*.go"}`, `'--type-add=wanted:*.go' '--type=wanted' -- .`},
		{"name below", "glob", `{"filePattern":"src/**/*.{ts,tsx}"}`, `'--type-add=wanted:*.{ts,tsx}' '--type=wanted' -- .`},
		{"not a name", "glob", `{"filePattern":"src/**"}`, `'--regex-size-limit=256M' -- .`},
		{"hidden", "glob", `{"filePattern":"{a,.b}/*"}`, ` '--hidden' `},
		{"program", "glob", `{"filePattern":"*"}`, `said=$('/opt/it'\''s/rg' '--files' `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{"\x00\x00"}, ExitCode: 1}}})
			if _, err := rt.Run(t.Context(), withRipgrep(t, "/opt/it's/rg", tt.id), tt.id, tt.args); err != nil {
				t.Fatal(err)
			}
			calls := rt.Procs.Calls()
			if len(calls) != 1 || !strings.Contains(calls[0].Text, tt.want) || calls[0].Dir != tooltest.Workspace {
				t.Errorf("commands %q, want one with %q", calls, tt.want)
			}
		})
	}
}

func TestRipgrep_Cancelled(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"grep", "glob"} {
		ctx, cancel := context.WithCancel(t.Context())
		rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{
			Output: []string{"\x00./a"}, Hang: true, Do: func(context.Context) { cancel() },
		}}})
		args := map[string]string{"grep": `{"pattern":"x"}`, "glob": `{"filePattern":"*"}`}[id]
		if _, err := rt.Run(ctx, withRipgrep(t, "/opt/rg", id), id, args); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error = %v, want the cancellation", id, err)
		}
	}
	rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Err: errors.New("no shell")}}})
	if _, err := rt.Run(t.Context(), withRipgrep(t, "/opt/rg", "grep"), "grep", `{"pattern":"x"}`); err == nil || !strings.Contains(err.Error(), "run ripgrep: ") {
		t.Errorf("error = %v, want that ripgrep could not be run", err)
	}
}

// FuzzAnswer gives the reader any output in any pieces: the pieces make no
// difference, and no name leads up.
func FuzzAnswer(f *testing.F) {
	f.Add("noise\x00./a\x001\n./b\nc\x000\n\x00said", 3, true)
	f.Add("\x00./a\x00\x00", 1, false)
	f.Add("\x00./a\x00x\n", 2, true)
	f.Fuzz(func(t *testing.T, output string, step int, counted bool) {
		whole, ok, said := builtin.Answer([]string{output}, counted)
		again, okAgain, saidAgain := builtin.Answer(pieces(output, max(step, 1)), counted)
		if diff := cmp.Diff(whole, again); diff != "" || ok != okAgain || said != saidAgain {
			t.Fatalf("in pieces of %d (-whole +pieces), complete %v and %v:\n%s", step, ok, okAgain, diff)
		}
		if len(said) > 2<<10 {
			t.Fatalf("%d bytes of error output are kept", len(said))
		}
	})
}

package builtin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

// languages is a language server made of a function.
type languages func(q tools.LanguageQuery) (*tools.LanguageAnswer, error)

func (f languages) Any() bool { return f != nil }

func (f languages) Ask(_ context.Context, q tools.LanguageQuery) (*tools.LanguageAnswer, error) {
	return f(q)
}

func askLSP(t *testing.T, rt *tooltest.Runtime, f languages, args map[string]any) (*tools.Result, error) {
	t.Helper()
	if f != nil {
		rt.Serve.Languages = f
	}
	return rt.Run(t.Context(), builtin.NewLSP(), "lsp", encode(t, args))
}

const lspText = "package a\n\nfunc Äpfel() { fmt.Println(Println) }\n"

func TestLSP_Places(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		args         map[string]any
		line, column int
	}{
		{"line and column", map[string]any{"line": 3, "column": 6}, 3, 6},
		{"symbol on a line", map[string]any{"line": 3, "symbol": "Äpfel"}, 3, 6},
		{"symbol alone", map[string]any{"symbol": "Äpfel"}, 3, 6},
		{"after wider characters", map[string]any{"line": 3, "symbol": "fmt"}, 3, 16},
		{"the last part of a qualified name", map[string]any{"line": 3, "symbol": "fmt.Println"}, 3, 20},
		{"a column decides", map[string]any{"line": 3, "symbol": "Println", "column": 28}, 3, 28},
		{"no part of a longer name", map[string]any{"symbol": "a"}, 1, 9},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.go": "on disk"}, Editor: map[string]string{"a.go": lspText}})
			tt.args["operation"], tt.args["path"] = tools.Definitions, "a.go"
			var asked tools.LanguageQuery
			_, err := askLSP(t, rt, func(q tools.LanguageQuery) (*tools.LanguageAnswer, error) {
				asked = q
				return &tools.LanguageAnswer{Server: "gopls"}, nil
			}, tt.args)
			if err != nil {
				t.Fatal(err)
			}
			want := tools.LanguageQuery{
				Operation: tools.Definitions, Path: "/test-workspace/a.go", Line: tt.line, Column: tt.column, Text: lspText,
			}
			if d := cmp.Diff(want, asked); d != "" {
				t.Errorf("query (-want +got):\n%s", d)
			}
		})
	}
}

func TestLSP_Locations(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{
		"a.go": lspText, "sub/b.go": "\t" + strings.Repeat("ü", 150) + "\n", ".env": "TOKEN=abc\n", "/usr/lib/go/fmt.go": "package fmt\n",
	}})
	rt.Mem.Link("link.go", ".env")
	answer := &tools.LanguageAnswer{Server: "gopls", Locations: []tools.CodeLocation{
		{Path: "/test-workspace/a.go", Line: 3, Column: 6},
		{Path: "/test-workspace/sub/b.go", Line: 1, Column: 2},
		{Path: "/test-workspace/sub/b.go", Line: 99, Column: 1},
		{Path: "/usr/lib/go/fmt.go", Line: 1, Column: 1},
		{Path: "/test-workspace/.env", Line: 1, Column: 1},
		{Path: "/test-workspace/link.go", Line: 1, Column: 1},
		{Path: "/test-workspace/gone.go", Line: 1, Column: 1},
	}}
	result, err := askLSP(t, rt, func(tools.LanguageQuery) (*tools.LanguageAnswer, error) { return answer, nil },
		map[string]any{"operation": "references", "path": "a.go", "line": 3, "symbol": "Äpfel"})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"a.go:3:6: func Äpfel() { fmt.Println(Println) }",
		"sub/b.go:1:2: " + strings.Repeat("ü", 100) + "…",
		"sub/b.go:99:1",
		"/usr/lib/go/fmt.go:1:1",
		".env:1:1",
		"link.go:1:1",
		"gone.go:1:1",
	}, "\n")
	if d := cmp.Diff(want, result.ModelText()); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]kinds.Content{kinds.Text{Text: "```\n" + want + "\n```"}}, result.Content); d != "" {
		t.Errorf("card (-want +got):\n%s", d)
	}
	if len(result.Locations) != 7 || result.Locations[0] != (kinds.Location{Path: "/test-workspace/a.go", Line: 3}) {
		t.Errorf("locations %v", result.Locations)
	}
	list, _ := data(t, result)["locations"].([]any)
	first := map[string]any{"path": "/test-workspace/a.go", "line": 3.0, "column": 6.0, "text": "func Äpfel() { fmt.Println(Println) }"}
	if d := cmp.Diff(first, list[0]); d != "" || len(list) != 7 {
		t.Errorf("data (-want +got):\n%s", d)
	}
}

func TestLSP_Diagnostics(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.go": lspText}})
	result, err := askLSP(t, rt, func(tools.LanguageQuery) (*tools.LanguageAnswer, error) {
		return &tools.LanguageAnswer{Server: "gopls", Diagnostics: []tools.Diagnostic{
			{Path: "/test-workspace/a.go", Line: 3, Column: 16, Severity: "error", Message: "undefined: fmt\nimport it", Source: "compiler", Code: "U1"},
			{Path: "/test-workspace/a.go", Line: 4, Column: 1, Severity: "hint", Message: "unused"},
		}}, nil
	}, map[string]any{"operation": "diagnostics", "path": "a.go"})
	if err != nil {
		t.Fatal(err)
	}
	want := "a.go:3:16: error: undefined: fmt\n  import it [compiler U1]\na.go:4:1: hint: unused"
	if d := cmp.Diff(want, result.ModelText()); d != "" {
		t.Errorf("text (-want +got):\n%s", d)
	}
	if list, _ := data(t, result)["diagnostics"].([]any); len(list) != 2 {
		t.Errorf("data %v", data(t, result))
	}
}

func TestLSP_NothingAndTooMuch(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.go": lspText}})
	for operation, want := range map[string]string{
		"diagnostics": "gopls finds nothing wrong with /test-workspace/a.go.", "references": "gopls knows no references of it.",
	} {
		result, err := askLSP(t, rt, func(tools.LanguageQuery) (*tools.LanguageAnswer, error) {
			return &tools.LanguageAnswer{Server: "gopls"}, nil
		}, map[string]any{"operation": operation, "path": "a.go", "symbol": "a"})
		if err != nil || result.ModelText() != want || strings.Contains(encode(t, result.Data), "null") {
			t.Errorf("%s: %+v, %v", operation, result, err)
		}
	}
	many := make([]tools.CodeLocation, 1000)
	for i := range many {
		many[i] = tools.CodeLocation{Path: "/test-workspace/a.go", Line: i + 1, Column: 1}
	}
	result, err := askLSP(t, rt, func(tools.LanguageQuery) (*tools.LanguageAnswer, error) {
		return &tools.LanguageAnswer{Server: "gopls", Locations: many}, nil
	}, map[string]any{"operation": "references", "path": "a.go", "symbol": "a"})
	if err != nil {
		t.Fatal(err)
	}
	if text := result.ModelText(); !strings.HasSuffix(text, "[800 more left out]") || !result.Truncated || len(result.Locations) != 50 {
		t.Errorf("text ends in %q, %d locations", text[len(text)-30:], len(result.Locations))
	}
}

func TestLSP_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args map[string]any
		err  error
		none bool
		kind tools.ErrorKind
		want string
	}{
		{"no servers", map[string]any{"path": "a.go"}, nil, true, tools.Unavailable, "cannot be used in this session"},
		{"none for the language", map[string]any{"path": "a.go"}, tools.Errorf(tools.Unavailable, "install gopls"), false, tools.Unavailable, "install gopls"},
		{"server failed", map[string]any{"path": "a.go"}, errors.New("gopls ended"), false, tools.Backend, "lsp: gopls ended"},
		{"no place", map[string]any{"operation": "references", "path": "a.go"}, nil, false, tools.BadInput, "needs a line"},
		{"line alone", map[string]any{"operation": "references", "path": "a.go", "line": 3}, nil, false, tools.BadInput, "needs a line and either"},
		{"beyond the file", map[string]any{"operation": "references", "path": "a.go", "line": 30, "column": 1}, nil, false, tools.BadInput, "no line 30; it has 4 lines"},
		{"half a line", map[string]any{"operation": "references", "path": "a.go", "line": 1.5, "column": 1}, nil, false, tools.BadInput, "no line 1.5"},
		{"symbol elsewhere", map[string]any{"operation": "references", "path": "a.go", "line": 1, "symbol": "fmt"}, nil, false, tools.BadInput, "The line is: package a"},
		{"symbol nowhere", map[string]any{"operation": "references", "path": "a.go", "symbol": "Print"}, nil, false, tools.BadInput, `"Print" is not in`},
		{"missing", map[string]any{"path": "b.go"}, nil, false, tools.BadInput, "ENOENT"},
		{"secret", map[string]any{"path": ".env"}, nil, false, tools.BadInput, "Refusing to read env file"},
		{"operation", map[string]any{"operation": "rename", "path": "a.go"}, nil, false, tools.BadInput, "operation"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Files: map[string]string{"a.go": lspText, ".env": "A=1\n"}})
			if tt.args["operation"] == nil {
				tt.args["operation"] = tools.Diagnostics
			}
			server := languages(func(tools.LanguageQuery) (*tools.LanguageAnswer, error) {
				return &tools.LanguageAnswer{}, tt.err
			})
			if tt.none {
				server = nil
			}
			_, err := askLSP(t, rt, server, tt.args)
			failure, ok := errors.AsType[*tools.Error](err)
			if !ok || failure.Kind != tt.kind || !strings.Contains(failure.Error(), tt.want) {
				t.Errorf("error %v, want %s with %q", err, tt.kind, tt.want)
			}
		})
	}
}

func TestLSP_Spec(t *testing.T) {
	t.Parallel()
	tool := builtin.NewLSP()
	tooltest.Conform(t, tool)
	if !tool.ReadOnly {
		t.Error("it is not read-only")
	}
	if n := len(tool.Description); n > 600 {
		t.Errorf("the prompt takes %d bytes", n)
	}
}

// The card says what will be started (O1), and a rule can name its language
// alone: that of the file which a link leads to.
func TestLSP_Card(t *testing.T) {
	t.Parallel()
	rt := tooltest.New(tooltest.Options{Files: map[string]string{"sub/a.go": "package a\n", ".env": "A=1\n", "Makefile": ""}})
	rt.Mem.Link("notes.md", "sub/a.go")
	tool := builtin.NewLSP()
	const card = "Starts, unless it runs already,\n\n```\nthe language server for %s files\n```\n\nin the directory\n\n```\n/test-workspace\n```\n\n" +
		"It may run code that this project configures."
	tests := []struct{ path, language string }{{"sub/a.go", ".go"}, {"notes.md", ".go"}, {"x.RS", ".rs"}, {"Makefile", ""}}
	for _, tt := range tests {
		args := []byte(encode(t, map[string]any{"operation": "diagnostics", "path": tt.path}))
		got, err := tool.Preview(t.Context(), rt, tools.NewArgs(args))
		if err != nil {
			t.Fatalf("%s: %v", tt.path, err)
		}
		resources := []tools.Resource{{Kind: tools.PathRead, Value: "/test-workspace/" + tt.path}}
		named := "Makefile"
		if tt.language != "" {
			named = tt.language
			resources = append(resources, tools.Resource{Kind: tools.Executable, Value: tt.language})
		}
		if d := cmp.Diff([]kinds.Content{kinds.Text{Text: fmt.Sprintf(card, named)}}, got); d != "" {
			t.Errorf("%s: card (-want +got):\n%s", tt.path, d)
		}
		if d := cmp.Diff(resources, tool.Resources(tools.NewArgs(args), rt.Sess.Env)); d != "" {
			t.Errorf("%s: resources (-want +got):\n%s", tt.path, d)
		}
	}
	if got, err := tool.Preview(t.Context(), rt, tools.NewArgs(`{"operation":"diagnostics","path":".env"}`)); err == nil {
		t.Errorf("a file of secrets is asked about: %v", got)
	}
}

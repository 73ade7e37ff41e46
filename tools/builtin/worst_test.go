package builtin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/websearch"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/tooltest"
)

// A worstCall is a call that takes a tool as much work as one can ask for.
type worstCall struct {
	tool, name string
	args       map[string]any
	files      map[string]string
	output     string // of a program that is run
	set        func(rt *tooltest.Runtime)
}

// shortCalls is how many of the worst calls the short form of a test has.
const shortCalls = 5

// largest is the size of the largest text that a tool takes.
const largest = 9_999_000

// bodyBytes is how much of a page is converted.
const bodyBytes = 5 << 20

// loopless says of tools without a row why they have no work of their own.
func loopless() map[string]string {
	delegates := "it hands its context to the subagent"
	return map[string]string{
		"todo": "its list has at most 100 items", "question": "it waits for the user, with its context",
		"task": delegates, "finder": delegates, "oracle": delegates, "librarian": delegates, "kraken": delegates,
		"job_output": "it reads at most 256 KiB", "job_stop": "it has no loop", "job_list": "it lists at most 50 jobs that have ended",
		"task_list": "it lists at most 100 subagents", "find_thread": "it lists at most 50 conversations", "read_thread": "a conversation is read with its context",
		"plan_exit":   "it changes the mode",
		"skill":       "a skill's text is bounded when it is found",
		"web_search":  "a provider's answer is bounded, and its request has the context",
		"repo_clone":  "git does the work, and is started with the context",
		"tool_search": "a query counts as at most 64 words, and the tools are in an index",
	}
}

// fill repeats a text to a size.
func fill(text string, size int) string { return strings.Repeat(text, size/len(text)) }

func file(text string) map[string]string { return map[string]string{"f": text} }

func numberedLines() string {
	var b strings.Builder
	for i := 0; b.Len() < largest-30; i++ {
		fmt.Fprintf(&b, "%d line of text\n", i)
	}
	return b.String()
}

func worstCalls() []worstCall {
	alike, long, blank := fill("\tif x { return }\n", largest), fill("ab ", largest), fill("\n", largest)
	lines := numberedLines()
	calls := worstEdits(alike, long, blank, lines)
	calls = append(calls, worstPatches(alike)...)
	calls = append(calls, worstSearches(alike, long)...)
	calls = append(calls, worstPages()...)
	picture := file("\x89PNG\r\n\x1a\n" + fill("x", 5<<20-10))
	renamed := strings.ReplaceAll(lines, "1", "x")
	changed := func(rt *tooltest.Runtime) { _ = rt.FS().WriteText(context.Background(), "f", renamed, nil) }
	languages := func(rt *tooltest.Runtime) { rt.Serve.Languages = silent{} }
	path := map[string]any{"path": "f"}
	return append(calls, []worstCall{
		{tool: "read", name: "lines", args: path, files: file(alike)},
		{tool: "read", name: "one line", args: path, files: file(long)},
		{tool: "read", name: "blank lines", args: map[string]any{"path": "f", "read_range": []int{9_000_000, 9_000_100}}, files: file(blank)},
		{tool: "read", name: "picture", args: path, files: picture},
		{tool: "view_image", name: "picture", args: path, files: picture},
		{tool: "delete_file", name: "large", args: path, files: file(lines)},
		{tool: "undo_edit", name: "every line", args: path, files: file(lines), set: changed},
		{tool: "format_file", name: "every line", args: map[string]any{"path": "f.go"}, files: map[string]string{"f.go": lines}, output: renamed},
		{tool: "lsp", name: "name in a line", args: map[string]any{"path": "f", "operation": tools.Definitions, "symbol": "x"}, files: file(fill("xa ", largest)), set: languages},
		{tool: "lsp", name: "name in lines", args: map[string]any{"path": "f", "operation": tools.Definitions, "symbol": "x"}, files: file(blank), set: languages},
		{tool: "bash", name: "output", args: map[string]any{"cmd": "x"}, output: fill("\x1b[31m\xc3\xa9", 20_000_000)},
		{tool: "check", name: "output", args: map[string]any{}, output: fill("\x1b[31m\xc3\xa9", 20_000_000)},
	}...)
}

func worstEdits(alike, long, blank, lines string) []worstCall {
	edit := func(name, text, old, new string, all bool) worstCall {
		return worstCall{
			tool: "edit", name: name, files: file(text),
			args: map[string]any{"path": "f", "old_str": old, "new_str": new, "replace_all": all},
		}
	}
	miss := strings.Repeat("if x { return }\n", 200)
	pair, turned := fill("a\nb\nc\n", 19_000), fill("b\na\nc\nd\n", 20_000)
	return []worstCall{
		{tool: "write", name: "new file", args: map[string]any{"path": "g", "content": alike}},
		{tool: "write", name: "whole large file", args: map[string]any{"path": "f", "content": alike}, files: file(long)},
		{tool: "plan", name: "large", args: map[string]any{"content": alike}},
		edit("text that is not there", alike, miss+"y", "x", false),
		edit("text with other indentation", alike, miss, "x", false),
		edit("text with other blanks", blank, "\n\n\n\n\n\n\n\nx", "x", false),
		edit("long line that is not there", long, strings.Repeat("ba ", 1000), "x", false),
		edit("every letter", long, "a", "c", true),
		edit("every line", alike, "return", "panic0", true),
		edit("every line end", fill("if x\r\n", largest), "if x\n", "pani\n", true),
		edit("most of the file", lines, lines[100:8_000_000], "x", false),
		edit("lines to compare", lines, lines[:200_000], strings.ReplaceAll(lines[:200_000], "1", "x"), false),
		edit("turned lines", pair, pair, turned, false),
		edit("hint", lines[:2_000_000], lines[:100_000]+"y", "x", false),
		edit("hint among equals", alike[:2_000_000], alike[:100_000]+"y", "x", false),
	}
}

func worstPatches(alike string) []worstCall {
	patch := func(name, text, body string) worstCall {
		return worstCall{tool: "apply_patch", name: name, files: file(text), args: map[string]any{"patch": body}}
	}
	envelope := func(body string) string { return "*** Begin Patch\n" + body + "*** End Patch" }
	update := "*** Update File: f\n"
	many := patch("many files", "", "")
	var bodies strings.Builder
	for i := range tools.CanonicalLimits().FilesPerCall {
		name := fmt.Sprintf("p%d", i)
		many.files[name] = "a\n"
		fmt.Fprintf(&bodies, "*** Update File: %s\n@@\n-a\n+b\n", name)
	}
	many.args["patch"] = envelope(bodies.String())
	return []worstCall{
		many,
		patch("new file", "", envelope("*** Add File: g\n"+fill("+abc\n", largest-100))),
		patch("hunk that is not there", alike, envelope(update+"@@\n"+fill(" \tif y { return }\n", 4_000_000)+"-a\n+b\n")),
		patch("hunk with other indentation", alike, envelope(update+"@@\n"+fill("   if x { return }\n", 4_000_000)+"-a\n+b\n")),
		patch("hunk at many places", alike, envelope(update+"@@\n-\tif x { return }\n+y\n")),
		patch("many hunks", alike, envelope(update+fill("@@\n-\tif x { return }\n+y\n", 2_000_000))),
		patch("numbered hunks", alike, "--- a/f\n+++ b/f\n"+fill("@@ -1,1 +1,1 @@\n-\tif x { return }\n+y\n", 2_000_000)),
	}
}

func worstSearches(alike, long string) []worstCall {
	many, ignoring := map[string]string{}, map[string]string{".gitignore": fill("a*b*c*d*e*f*g*h\n**/a*/b\n", 1<<20)}
	for i := range 1000 {
		many[fmt.Sprintf("d%d/e%d/f%d.go", i%10, i%100, i)] = "x"
		ignoring[fmt.Sprintf("x%d%s", i, strings.Repeat("abcdefg", 30))] = ""
	}
	glob := func(name, pattern string, files map[string]string) worstCall {
		return worstCall{tool: "glob", name: name, args: map[string]any{"filePattern": pattern}, files: files}
	}
	grep := func(name, pattern, text string) worstCall {
		return worstCall{tool: "grep", name: name, args: map[string]any{"pattern": pattern}, files: file(text)}
	}
	return []worstCall{
		glob("alternatives", "**/"+strings.Repeat("*{a,b}", 8)+"c", many),
		glob("stars", strings.Repeat("**/*", 900), many),
		glob("braces", strings.Repeat("{", 15000)+strings.Repeat("}", 15000), many),
		glob("ignore rules", "**", ignoring),
		{tool: "repo_overview", name: "many files", args: map[string]any{}, files: many},
		grep("repetitions", `(x+x+)+y(.{90}z){40}`, fill("x", largest)),
		grep("large expression", `(a?b?){400}(.{50}z){10}`, fill("ab", largest)),
		grep("classes of runes", strings.Repeat(`\pL`, 3000), fill("\xc3\xa9a", largest)),
		grep("optional classes", strings.Repeat(`(\pL|\pN)?`, 100), fill("ab", largest)),
		grep("words", strings.Repeat(`(foo|bar|bazzy)`, 500), fill("foobarbazzy", largest)),
		grep("states", `[ab][^d]{900}c`, long),
		grep("hits", "return", alike),
	}
}

func worstPages() []worstCall {
	page := func(name, contentType, body string) worstCall {
		return worstCall{
			tool: "web_fetch", name: name, args: map[string]any{"url": "https://example.com/"},
			set: func(rt *tooltest.Runtime) {
				rt.Web = tooltest.NetFunc(func(_ context.Context, r tools.Request) (*tools.Response, error) {
					return &tools.Response{URL: r.URL, Status: 200, ContentType: contentType, Body: []byte(body)}, nil
				})
			},
		}
	}
	const markup = "text/html"
	return []worstCall{
		page("tags", markup, fill("<p>a<b>c", bodyBytes)),
		page("paragraphs", markup, fill("<p>a</p>", 400_000)),
		page("links", markup, fill(`<a href="/x">y</a>`, bodyBytes/4)),
		page("brackets", markup, "<p>"+fill("*_[", bodyBytes)),
		page("table", markup, "<table>"+fill("<tr><td>y</td><td>z</td></tr>", 200_000)+"</table>"),
		page("open elements", markup, fill("<b><p>x", 200_000)),
		page("lists", markup, fill("<ul><li>x", 300_000)),
		page("breaks", markup, "<p>"+fill("x<br>", 400_000)),
		page("escapes", markup, "<p>"+fill("&amp;&lt;", bodyBytes)),
		page("text", "text/plain", fill("\x01\xc3\xa9", bodyBytes)),
		page("wide text", "text/plain", "\xff\xfe"+fill("a\x00", bodyBytes)),
		page("document", "application/pdf", "%PDF-1.4"+fill("/Type /Pages /Count 12 ", bodyBytes)),
	}
}

// silent is language servers that find nothing.
type silent struct{}

func (silent) Any() bool { return true }

func (silent) Ask(context.Context, tools.LanguageQuery) (*tools.LanguageAnswer, error) {
	return &tools.LanguageAnswer{}, nil
}

// catalogue is all tools, with one check and a provider of searches.
func catalogue(t *testing.T) *tools.Registry {
	t.Helper()
	registry, err := tools.NewRegistry(builtin.Options{
		Checks: []builtin.Check{{Name: "x", Cmd: "x"}}, Search: []websearch.Provider{},
	}.All()...)
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// prepared is a call that is ready to run, with a runtime of its own each time.
func (c worstCall) prepared(t *testing.T) (run func(ctx context.Context, rt tools.Runtime) error, fresh func() *tooltest.Runtime) {
	t.Helper()
	registry := catalogue(t)
	tool, _ := registry.Get(c.tool)
	fresh = func() *tooltest.Runtime {
		rt := tooltest.New(tooltest.Options{Files: c.files, Processes: []tooltest.Script{{Output: []string{c.output}}}})
		if c.set != nil {
			c.set(rt)
		}
		return rt
	}
	entry, args, err := tooltest.Prepare(tool.Tool, c.tool, encode(t, c.args), fresh().Sess.Env)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, rt tools.Runtime) error {
		_, err := entry.Run(ctx, rt, args)
		return err
	}, fresh
}

// TestAll_WorstCalls leaves no tool without a worst call or a reason why it has none.
func TestAll_WorstCalls(t *testing.T) {
	t.Parallel()
	rows := map[string]bool{}
	for _, call := range worstCalls() {
		rows[call.tool] = true
	}
	reasons := loopless()
	for _, tool := range catalogue(t).All() {
		if _, excused := reasons[tool.ID]; rows[tool.ID] == excused {
			t.Errorf("%s: has rows: %v, has a reason to have none: %v", tool.ID, rows[tool.ID], excused)
		}
		delete(reasons, tool.ID)
	}
	for id := range reasons {
		t.Errorf("%s is no tool", id)
	}
}

//go:build unix

package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/testfile"
)

// rootsScript is a model that asks both servers where they may work, and tries a directory
// next to the project with both. The one that is notified comes last: it asks for the session's
// directories after its start, and uses them when it has looked at them.
//
// The first turn lasts until also a busy machine has started the servers: a turn has the tools
// of the servers that have answered before it.
const rootsScript = `{"when": "^settle$", "say": "Now.", "chunk": 2, "pause_ms": 4000}
{"when": "^where$", "call": [
	{"name": "mcp__untold__list_allowed_directories", "args": {}},
	{"name": "mcp__untold__read_text_file", "args": {"path": "$DATA/a.txt"}},
	{"name": "mcp__untold__read_text_file", "args": {"path": "$PROJECT/greet.sh"}},
	{"name": "mcp__untold__write_file", "args": {"path": "$DATA/b.txt", "content": "more words"}}]}
{"call": [
	{"name": "mcp__told__list_allowed_directories", "args": {}},
	{"name": "mcp__told__read_text_file", "args": {"path": "$DATA/a.txt"}}]}
{"say": "They said."}`

// filesystemRoots starts the reference server for files twice with a directory next to the
// project: it takes the session's directories in the place of that one, unless the
// configuration keeps them from it.
func filesystemRoots(t *testing.T, binary string) {
	t.Helper()
	job := newInteropJob(t, binary, interopClient{})
	job.Buffers = map[string]string{}
	home := job.Env["HOME"]
	data := filepath.Join(home, "data")
	if err := os.Mkdir(data, 0o755); err != nil {
		t.Fatal(err)
	}
	words := strings.NewReplacer("$DATA", data, "$PROJECT", job.Cwd)
	for path, text := range map[string]string{
		filepath.Join(data, "a.txt"): "words\n", job.Env["ACP_AGENT_MODEL_SCRIPT"]: words.Replace(rootsScript),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := func(roots bool) any {
		return map[string]any{"command": []string{"node", serverPath(t, "server-filesystem"), data}, "roots": roots}
	}
	job.Env["ACP_AGENT_CONFIG"] = testfile.JSON(t, filepath.Join(home, "config.jsonc"), map[string]any{
		"roots": map[string]any{"write": []string{data}, "read": []string{packagesPath(t)}},
		"tools": map[string]any{"search": map[string]any{"enabled": false}},
		"mcp":   map[string]any{"servers": map[string]any{"told": server(true), "untold": server(false)}},
	})
	job.Steps = []interopStep{{Do: "prompt", Text: "settle"}, {Do: "prompt", Text: "where", Answer: "allow"}}
	report := drive(t, job)
	run := &interopRun{T: t, job: job, report: report, calls: callsOf(t, report)}
	judgeLines(t, report)
	run.order()
	run.exited()
	if run.said(1) != "They said." {
		t.Fatalf("the turn ended with %+v and said %q", report.Steps[1], run.said(1))
	}
	const refused = "Access denied - path outside allowed directories"
	want := []struct{ name, state, shows, hides string }{
		{"mcp__untold__list_allowed_directories", "completed", data, job.Cwd},
		{"mcp__untold__read_text_file", "completed", "words", refused},
		{"mcp__untold__read_text_file", "failed", refused, ""},
		{"mcp__untold__write_file", "completed", "Successfully wrote", ""},
		{"mcp__told__list_allowed_directories", "completed", job.Cwd, data},
		{"mcp__told__read_text_file", "failed", refused, ""},
	}
	if len(run.calls) != len(want) {
		t.Fatalf("%d calls, want %d", len(run.calls), len(want))
	}
	for i, c := range run.calls {
		text := c.contents.text()
		if w := want[i]; c.name != w.name || c.states[len(c.states)-1] != w.state || !strings.Contains(text, w.shows) || w.hides != "" && strings.Contains(text, w.hides) {
			t.Errorf("call %d: %s ended %q: %q, want %+v", i, c.name, c.states, text, w)
		}
	}
	if text, err := os.ReadFile(filepath.Join(data, "b.txt")); err != nil || string(text) != "more words" {
		t.Errorf("written: %q, %v", text, err)
	}
}

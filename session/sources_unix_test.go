//go:build unix

package session_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/loop"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/tools/mount"
	"acp-agent/tools/provider"
)

// box is a toolbox whose scripts are asked with describe, by their names.
func box(t *testing.T, describe func(ctx context.Context, script string) ([]byte, error), scripts ...string) *mount.Mounting {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { // whatever the umask
		t.Fatal(err)
	}
	for _, name := range scripts {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m := mount.Open(t.Context(), nil, mount.Options{
		Toolbox: mount.Toolbox{Dirs: []string{dir}},
		Describe: func(ctx context.Context, call mount.Describing) ([]byte, error) {
			return describe(ctx, filepath.Base(call.Args[0]))
		},
	})
	t.Cleanup(func() { m.Close() })
	return m
}

// A prompt waits once for all who have tools, two seconds at most, and for one that hangs
// never again: MCP servers, providers and scripts. A late source is there in the next
// turn.
func TestSession_OneWait(t *testing.T) {
	reached := make(chan struct{})
	hang := func() { <-reached }
	list := func() string { return `[{"name":"one","description":"d","inputSchema":{"type":"object"}}]` }
	m := box(t, func(ctx context.Context, script string) ([]byte, error) {
		if script == "slow" {
			select {
			case <-reached:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return []byte("name: " + script + "\ndescription: d"), nil
	}, "quick", "slow")
	s, rec := open(t, setup{
		script: `{"expect":{"tools":["tb__quick"],"no_tools":["tb__slow","tb__web__one","mcp__far__one"]},"say":"1"}` + "\n" +
			`{"expect":{"tools":["tb__quick"],"no_tools":["tb__slow","tb__web__one","mcp__far__one"]},"say":"2"}` + "\n" +
			`{"expect":{"tools":["tb__quick"],"no_tools":["tb__slow"],"told":"- tb__slow: d"},"say":"3"}`,
		servers: []mcp.Server{{Name: "far", URL: tooled(t, hang, list)}},
		settings: &session.Settings{
			Limits: tools.CanonicalLimits(), Sources: session.Sources{Providers: []provider.Config{{Name: "web", Type: "http", URL: tooled(t, hang, list)}}},
		},
		mounting: m,
	})
	s.Start()
	start := time.Now()
	wait(t, prompt(s, "go"), loop.EndTurn)
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("the first turn took %s", took)
	}
	for _, want := range []string{`The tool provider "web" has not answered yet`, "slow has not described itself yet", "The MCP server far has not answered yet"} {
		if !slices.ContainsFunc(rec.all(), noticed(want)) {
			t.Errorf("nothing says that %s", want)
		}
	}
	start = time.Now()
	wait(t, prompt(s, "again"), loop.EndTurn)
	if took := time.Since(start); took >= 2*time.Second {
		t.Errorf("the second turn waited again, %s", took)
	}
	close(reached)
	s.AwaitTools(t.Context(), true)
	wait(t, prompt(s, "at last"), loop.EndTurn)
	if got := rec.text(); got != "123" {
		t.Errorf("said %q", got)
	}
}

// R93: scripts are asked once for all sessions of a Host, and none for a session that is
// merely opened.
func TestSession_ScriptsAskedOnce(t *testing.T) {
	asked := make(chan string, 10)
	m := box(t, func(_ context.Context, script string) ([]byte, error) {
		asked <- script
		return []byte("name: it\ndescription: d"), nil
	}, "it")
	for i := range 3 {
		s, rec := open(t, setup{script: `{"expect":{"tools":["tb__it"]},"say":"x"}`, mounting: m})
		if before := len(asked); i == 0 && before > 0 {
			t.Errorf("asked %d times before a session began", before)
		}
		s.Start()
		wait(t, prompt(s, "go"), loop.EndTurn)
		if got := rec.text(); got != "x" {
			t.Errorf("said %q", got)
		}
	}
	if len(asked) != 1 {
		t.Errorf("asked %d times", len(asked))
	}
}

// R10, R112: a module that has to say itself what it is has no prefix, and what it requires
// counts from when it is there: in each mode but plan.
func TestSession_LateModule(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"tool.json": `{"executable":"run.sh","requires":{"shell":[{"cmd":"frobnicate"}]}}`, "run.sh": "#!/bin/sh\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	m := mount.Open(t.Context(), mount.Plan{{Module: "mine", Source: dir}}, mount.Options{
		Describe: func(context.Context, mount.Describing) ([]byte, error) {
			return []byte(`{"name":"mine","description":"d"}`), nil
		},
	})
	defer m.Close()
	s, rec := open(t, setup{
		script:   `{"expect":{"tools":["mine"]},"say":"x"}` + "\n" + `{"expect":{"no_tools":["mine"]},"say":"y"}`,
		mounting: m,
	})
	wait(t, prompt(s, "go"), loop.EndTurn)
	if err := s.SetMode(string(permissions.ModePlan)); err != nil {
		t.Fatal(err)
	}
	wait(t, prompt(s, "go"), loop.EndTurn)
	if got := rec.text(); got != "xy" {
		t.Errorf("said %q", got)
	}
}

// R94, R93: /providers is offered when there is something to say, and says of each how it
// stands, its tools, and why it failed.
func TestSession_ProvidersCommand(t *testing.T) {
	offered := func(s *session.Session) bool {
		for _, c := range s.Commands() {
			if c.Name == "providers" {
				return true
			}
		}
		return false
	}
	bare, rec := open(t, setup{script: `{"say":"x"}`})
	if offered(bare) {
		t.Error("offered where there are none")
	}
	wait(t, prompt(bare, "/providers"), loop.EndTurn)
	if !strings.Contains(rec.text(), "neither external providers nor scripts") {
		t.Errorf("said %q", rec.text())
	}
	m := box(t, func(_ context.Context, script string) ([]byte, error) {
		if script == "bad" {
			return []byte("[]"), nil
		}
		return []byte("name: it\ndescription: d"), nil
	}, "bad", "good")
	web := tooled(t, func() {}, func() string { return `[{"name":"one","description":"d"},{"description":"nameless"}]` })
	s, rec := open(t, setup{
		script: `{"say":"x","repeat":-1}`, mounting: m,
		settings: &session.Settings{
			Limits: tools.CanonicalLimits(),
			Sources: session.Sources{Providers: []provider.Config{
				{Name: "web", Type: "http", URL: web + "/?key=hidden"}, {Name: "odd", Type: "pigeon"}, {Name: "dead", Type: "http", URL: "http://127.0.0.1:1/"},
			}},
		},
	})
	if !offered(s) {
		t.Error("not offered")
	}
	wait(t, prompt(s, "/providers"), loop.EndTurn)
	for _, want := range []string{"`web`: not started yet, 0 tools", "`odd`: failed", "good`: not asked yet"} {
		if !strings.Contains(rec.text(), want) {
			t.Errorf("before the first turn it says %q, want %q", rec.text(), want)
		}
	}
	wait(t, prompt(s, "go"), loop.EndTurn)
	wait(t, prompt(s, "/providers"), loop.EndTurn)
	_, text, _ := strings.Cut(rec.text(), "x")
	for _, want := range []string{
		"`web`: ready, 1 tool, `http://127.0.0.1:", "  - `tb__web__one`\n", `tool "" is left out: it has no name`,
		"last error: `Unknown tool provider type: pigeon`", "`dead`: failed", "bad`: failed\n  - last error: `describe must answer",
		"good`: ready\n  - `tb__it`\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it says\n%s\nwant %q", text, want)
		}
	}
	if strings.Contains(text, "hidden") {
		t.Error("it shows the address with its key")
	}
}

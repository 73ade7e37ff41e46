package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/agenttest"
	"acp-agent/internal/testkit/testfile"
	"acp-agent/internal/testkit/testreq"
	"acp-agent/sandbox"
)

// stubbornProgram never answers, ignores what asks it to end, and leaves a process in a
// session of its own that does so too and sleeps for its first argument.
const stubbornProgram = `trap "" TERM HUP INT
(setsid sh -c 'trap "" TERM; sleep $0' $1 &)
while :; do sleep 1; done
`

// stubbornModule is the same as the executable of a module, which has no arguments. Its
// tool.json says what it is, so that its tool is there at the first prompt however slow the
// machine is; a script of a toolbox would have to answer first.
const (
	stubbornModule   = "#!/bin/bash\nset -- %s\n" + stubbornProgram
	stubbornManifest = `{"name": "stuck", "description": "Never ends.", "executable": "./run.sh", "inputSchema": {"type": "object"}}`
)

// foreignPrograms are the programs of others that a session may start, in the order of
// the naps of startForeign.
var foreignPrograms = []string{"a server of the editor", "a server of the configuration", "a provider", "the executable of a module"}

// ends are the ways in which a session ends, after which nothing of it may be left.
var ends = []struct {
	name string
	end  func(s *acptest.Session) error
}{
	{"session/close", func(s *acptest.Session) error { s.CloseSession(); return nil }},
	{"the end of the input", func(s *acptest.Session) error { s.Close(); return nil }},
	{"kill -9", func(s *acptest.Session) error {
		defer func() { _ = s.Exit(10 * time.Second) }() // it was killed
		return s.Signal(os.Kill)
	}},
}

// TestPrograms_End is R149 and the end of programs of others, under each sandbox and with
// none: programs that never answer hold up neither session/new nor the first prompt, and nothing
// of them is left after session/close, after the end of the input, and after the agent was
// killed.
func TestPrograms_End(t *testing.T) {
	testreq.Beside(t)
	for i, level := range testreq.Pick(1, []sandbox.Kind{sandbox.Bubblewrap, sandbox.Namespaces, sandbox.Landlock, sandbox.None}) {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			needSandbox(t, level)
			sessions, naps := make([]*acptest.Session, len(ends)), make([][]string, len(ends))
			for j, end := range ends { // their prompts wait for servers side by side
				for k := range foreignPrograms {
					naps[j] = append(naps[j], fmt.Sprintf("5%d%d%d%d", os.Getpid(), i, j, k))
				}
				sessions[j] = startForeign(t, level, naps[j], end.name == "kill -9")
				sessions[j].Prompt("call it")
			}
			// All come up before the first session ends: the agent gives up on a server
			// that has not answered in time, and what it ended itself shows nothing.
			awaitNaps(t, sessions, slices.Clone(naps))
			for j, end := range ends {
				ended := time.Now()
				if err := end.end(sessions[j]); err != nil {
					t.Fatal(err)
				}
				for k, nap := range naps[j] {
					for napping(t, nap) > 0 {
						if took := time.Since(ended); took > acptest.Slack(3*time.Second) {
							t.Fatalf("%s: a process of %s is there %v later", end.name, foreignPrograms[k], took)
						}
						time.Sleep(lookAgain)
					}
				}
			}
		})
	}
}

// startForeign opens a session that starts each of the programs, each with a nap of its
// own; the module at the first prompt.
func startForeign(t *testing.T, level sandbox.Kind, naps []string, killed bool) *acptest.Session {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"project/stubborn.sh": stubbornProgram, "module/run.sh": fmt.Sprintf(stubbornModule, naps[3]), "module/tool.json": stubbornManifest,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	args := func(nap string) []string { return []string{filepath.Join(dir, "project", "stubborn.sh"), nap} }
	config := testfile.JSON(t, filepath.Join(dir, "config.jsonc"), map[string]any{
		"sandbox":  map[string]any{"level": level},
		"tools":    map[string]any{"search": map[string]any{"enabled": false}, "mount": []any{map[string]any{"module": "stuck", "source": filepath.Join(dir, "module")}}},
		"mcp":      map[string]any{"servers": map[string]any{"configured": map[string]any{"command": append([]string{"/bin/bash"}, args(naps[1])...)}}},
		"external": map[string]any{"toolProviders": map[string]any{"stuck": map[string]any{"type": "stdio", "command": "/bin/bash", "args": args(naps[2])}}},
	})
	agent := acptest.Start(t, acptest.Options{
		Model: `{"call": [{"name": "stuck", "args": {}}]}`, Killed: killed, Permission: acptest.Answer("allow_once"),
		Env: []string{"ACP_AGENT_CONFIG=" + config, agenttest.EnvFirstWait + "=" + acptest.Slack(3*time.Second).String()},
	})
	agent.Initialize("")
	server := map[string]any{"name": "offered", "command": "/bin/bash", "args": args(naps[0]), "env": []any{}}
	return agent.OpenSession(map[string]any{"cwd": filepath.Join(dir, "project"), "mcpServers": []any{server}})
}

// needSandbox skips the test where processes cannot be confined so.
func needSandbox(t *testing.T, level sandbox.Kind) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	launcher := &launch.Launcher{Self: self}
	defer launcher.Dismiss()
	finder := sandbox.Finder{Launcher: launcher, Dir: t.TempDir(), Level: level}
	if report := finder.Find(t.Context()); report.Refused != "" {
		testreq.Skip(t, report.Refused)
	}
}

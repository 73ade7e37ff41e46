//go:build unix

package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"acp-agent/config"
	"acp-agent/internal/testkit/acptest"
	"acp-agent/session"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// R93: neither the answer to initialize nor that to session/new starts a script, or waits
// for one. Here a script that describes itself reads a pipe first, so that it can be seen
// whether there is one that reads.
func TestCore_SessionStartsNoScript(t *testing.T) {
	core := newCore(io.Discard)
	dir := t.TempDir()
	core.stateDir, core.sources = filepath.Join(dir, "state"), config.Sources{ConfigDir: filepath.Join(dir, "config")}
	core.scripted = noModel{}
	defer core.Close()
	box := filepath.Join(dir, "config", "acp-agent", "toolbox")
	if err := os.MkdirAll(box, 0o755); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(box, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(box, "told"), []byte("#!/bin/sh\ncat \"$(dirname \"$0\")/pipe\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(box, "told"), 0o755); err != nil { // whatever the umask
		t.Fatal(err)
	}
	reads := func() (*os.File, bool) {
		file, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return file, err == nil
	}
	core.Warm() // behind the answer to initialize
	s, err := core.Open(t.Context(), session.Spec{Cwd: t.TempDir(), Sink: transcript.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(0)
	if _, ok := reads(); ok {
		t.Error("a script was started before session/new was answered")
	}
	s.Start()
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // opens when the script reads
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(writer, "name: told\ndescription: d\n"); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	s.AwaitTools(t.Context(), false)
	if !slices.ContainsFunc(s.Tools(), func(e *tools.Entry) bool { return e.ID == "tb__told" }) {
		t.Errorf("the script's tool is not there: %v", core.problems())
	}
}

// executable writes a file that others cannot change, whatever the umask.
func executable(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, filepath.Dir(path)} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// configured writes the person's configuration, and returns the variable that names it.
func configured(t *testing.T, format string, args ...any) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.jsonc")
	if err := os.WriteFile(path, fmt.Appendf(nil, format, args...), 0o600); err != nil {
		t.Fatal(err)
	}
	return "ACP_AGENT_CONFIG=" + path
}

// R8: a module that was called cleans up when the client is gone, between two turns and in
// the middle of a call.
func TestModule_CleansUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "held")
	executable(t, filepath.Join(dir, "run.sh"), `#!/bin/sh
if [ "$TOOLBOX_ACTION" = cleanup ]; then
  echo "said goodbye" >&2
  exit 3
fi
echo begun >&2
case $(cat) in *true*) sleep 300 ;; esac
`)
	if err := os.WriteFile(filepath.Join(dir, "tool.json"), []byte(
		`{"name":"held","description":"Holds something.","executable":"./run.sh","cleanup":true,"inputSchema":{"type":"object"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, long := range map[string]bool{"between two turns": false, "in a call": true} {
		t.Run(name, func(t *testing.T) {
			agent := acptest.Start(t, acptest.Options{
				Env:   []string{"ACP_AGENT_LOG=info", configured(t, `{"tools":{"mount":[{"module":"held","source":%q}],"always":["held"]},"rules":{"allow":["held"]}}`, dir)},
				Model: fmt.Sprintf(`{"call":[{"name":"held","args":{"long":%v}}]}`+"\n"+`{"say":"Done."}`, long),
			})
			agent.Initialize("")
			turn := agent.NewSession(t.TempDir()).Prompt("go")
			if long {
				agent.Expect("the call's output", acptest.Update("tool_call_update", "content", "begun"))
			} else {
				turn.Ends("end_turn")
			}
			agent.Close()
			if want := "said goodbye"; strings.Count(agent.Stderr(), want) != 1 {
				t.Errorf("stderr has %q, want %q once", agent.Stderr(), want)
			}
		})
	}
}

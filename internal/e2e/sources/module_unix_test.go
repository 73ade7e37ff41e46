//go:build unix

package sources

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/testkit/acptest"
	"acp-agent/internal/testkit/testfile"
)

// R8: a module that was called cleans up when the client is gone, between two turns and in
// the middle of a call.
func TestModule_CleansUp(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "held")
	testfile.Executable(t, filepath.Join(dir, "run.sh"), `#!/bin/sh
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
				Env:   []string{"ACP_AGENT_LOG=info", testfile.Config(t, `{"tools":{"mount":[{"module":"held","source":%q}],"always":["held"]},"rules":{"allow":["held"]}}`, dir)},
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

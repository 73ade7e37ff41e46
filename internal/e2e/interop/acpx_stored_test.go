//go:build unix

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

// acpx resumes its session in a new process of the agent when that process, or its own that keeps
// the agent, is killed between two prompts: the model has what was said before. It closes the
// session, takes it up by its id, and lists what the agent has stored. It loads only where an
// agent cannot resume, and has no command that forks a stored session or deletes it (R141, R146,
// R147). The short form kills the agent alone.
func TestInterop_AcpxStored(t *testing.T) {
	t.Parallel()
	x := newAcpx(t)
	x.run(0, "sessions", "new")
	x.closeAtEnd()
	first := x.read(x.run(0, "--approve-all", "prompt", "repair"))
	x.wantTurn(first, "end_turn", "All is done.")
	kills := testreq.Pick(1, []struct{ files, prompt, says string }{
		{".local/share/acp-agent/conversations/" + first.session + ".owner", "the agent was killed", "I know what was said."},
		{".acpx/queues/*.lock", "acpx was killed", "I still do."},
	})
	for _, kill := range kills {
		x.kill(kill.files)
		next := x.read(x.run(0, "--approve-all", "prompt", kill.prompt))
		x.wantTurn(next, "end_turn", kill.says)
		if next.session != first.session {
			t.Errorf("%s: the prompt was of session %q, want %q", kill.prompt, next.session, first.session)
		}
	}
	x.run(0, "sessions", "close")
	x.run(0, "sessions", "new", "--resume-session", first.session)
	taken := x.read(x.run(0, "--approve-all", "prompt", fmt.Sprintf("taken up after %d", len(kills))))
	x.wantTurn(taken, "end_turn", "Here, too.")
	if taken.session != first.session {
		t.Errorf("the session that was taken up is %q, want %q", taken.session, first.session)
	}
	if list := x.run(0, "sessions", "list"); strings.Count(string(list), first.session) != 1 || !strings.Contains(string(list), `"source":"agent"`) {
		t.Errorf("the agent's sessions are %s", list)
	}
}

// kill kills the process that the one file of these in the home names.
func (x *acpx) kill(files string) {
	x.Helper()
	found, err := filepath.Glob(filepath.Join(x.home, files))
	if err != nil || len(found) != 1 {
		x.Fatalf("%s are %q, %v", files, found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		x.Fatal(err)
	}
	var owner struct{ PID int }
	if err := json.Unmarshal(text, &owner); err != nil || owner.PID == 0 {
		x.Fatalf("%s holds %q, %v", found[0], text, err)
	}
	if err := syscall.Kill(owner.PID, syscall.SIGKILL); err != nil {
		x.Fatal(err)
	}
}

package protocol

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/testkit/acptest"
)

var together = flag.Duration("together", time.Second, "how long TestStored_Together lets two agents work")

// togetherModel answers every prompt after an edit.
const togetherModel = `{"when": "^turn (\\w+) (\\d+)$", "call": [{"name": "write", "args": {"path": "${match.1}.txt", "content": "${match.2}\n"}}]}
{"say": "Done with ${match.1} ${match.2}."}
`

// Two agents over one home work in sessions of their own and want each other's now and then: the
// answer names the process that has it. Each session then has every turn, in a third process (R141,
// R147). make together does it for a minute.
func TestStored_Together(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stored{t: t, dir: dir, options: acptest.Options{
		Home: t.TempDir(), Model: togetherModel, Unjudged: true, Permission: acptest.Answer("allow_once"),
	}}
	var both [2]*stored
	var said [2][]string
	for i, name := range []string{"a", "b"} {
		both[i] = &stored{t: t, dir: dir, options: s.options}
		both[i].Session = both[i].start().NewSession(dir)
		said[i] = both[i].turn(nil, name, 0)
	}
	deadline := time.Now().Add(*together)
	var agents sync.WaitGroup
	for i, name := range []string{"a", "b"} {
		agents.Go(func() {
			for n := 1; n == 1 || time.Now().Before(deadline); n++ {
				said[i] = both[i].turn(said[i], name, n)
				both[i].isRefused(both[1-i])
			}
		})
	}
	agents.Wait()
	t.Logf("%d and %d turns", len(said[0])/2, len(said[1])/2)
	for i := range both {
		both[i].Agent.Close()
	}
	third := s.start()
	for i := range both {
		(&killed{t: t, dir: dir, id: both[i].ID, answered: said[i]}).load(third)
	}
}

// turn has a turn, and adds what was said in it.
func (s *stored) turn(said []string, name string, n int) []string {
	s.t.Helper()
	text := fmt.Sprintf("turn %s %d", name, n)
	s.Prompt(text).Ends("end_turn")
	return append(said, text, fmt.Sprintf("Done with %s %d.", name, n))
}

// isRefused asks for the session of another process.
func (s *stored) isRefused(other *stored) {
	s.t.Helper()
	m := other.ask(s.Agent, "session/load", nil)
	want := fmt.Sprintf("session %s is open in process %d on ", other.ID, other.PID)
	if m.Error == nil || !strings.HasPrefix(m.Error.Message, want) {
		s.t.Errorf("session/load of a session that another process has: %+v, want the error %q…", m.Error, want)
	}
}

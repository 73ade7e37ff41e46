package launch

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/cgroup"
)

// hog takes memory without end.
const hog = `x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`

// TestStart_MemoryEndsTheCommand holds that the whole tree counts, and that the
// command ends although its shell would go on.
func TestStart_MemoryEndsTheCommand(t *testing.T) {
	t.Parallel()
	s := spec(t, "while :; do bash -c '"+hog+"' 2>/dev/null; sleep 0.1; done")
	s.Limits = Limits{Memory: 128 << 20}
	got, err := wait(t, start(t, s, newOutput()))
	if err != nil || got.Exceeded != ExceededMemory {
		t.Errorf("status %+v, %v; want the end by memory", got, err)
	}
}

// TestStart_ForkBombEnds holds that a command whose processes start others without end
// is ended, with nothing left.
func TestStart_ForkBombEnds(t *testing.T) {
	t.Parallel()
	s := spec(t, "b() { b | b & }; b 2>/dev/null; sleep 600")
	s.Limits = Limits{Processes: 60}
	got, err := wait(t, start(t, s, newOutput()))
	if err != nil || got.Exceeded != ExceededProcesses || got.Survivors > 0 {
		t.Errorf("status %+v, %v; want the end by processes", got, err)
	}
}

// TestStart_LimitsThatAreKept holds that a command below its limits is not touched,
// and that its cgroup goes with it.
func TestStart_LimitsThatAreKept(t *testing.T) {
	t.Parallel()
	s := spec(t, "cat /proc/self/cgroup; exit 3")
	s.Limits = Limits{Memory: 256 << 20, Processes: 50, FileSize: 1 << 20}
	out := newOutput()
	got, err := wait(t, start(t, s, out))
	if err != nil || got != (Status{ExitCode: 3}) {
		t.Errorf("status %+v, %v; want exit code 3 alone", got, err)
	}
	for line := range strings.Lines(out.String()) {
		if _, path, ok := strings.Cut(strings.TrimSpace(line), ":/"); ok && strings.Contains(path, "acp-agent.") {
			if found, _ := exec.Command("find", "/sys/fs/cgroup", "-name", path[strings.LastIndex(path, "/")+1:]).Output(); len(found) > 0 {
				t.Errorf("left behind: %s", found)
			}
		}
	}
}

// TestBound_WithoutCgroups holds that a tree which no cgroup holds is measured. It
// runs by itself, for the tree is that of the test's own process.
func TestBound_WithoutCgroups(t *testing.T) {
	for _, test := range []struct {
		name, text string
		limits     Limits
		want       string
	}{
		{"memory", hog, Limits{Memory: 128 << 20}, ExceededMemory},
		{"processes", "for i in 1 2 3 4 5 6 7 8 9; do sleep 600 & done; wait", Limits{Processes: 8}, ExceededProcesses},
		{"nothing", "exec sleep 0.3", Limits{Memory: 1 << 30, Processes: 1000}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "bash", "-c", test.text)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { // ends with the command, which the end of the test kills
				defer close(ended)
				_ = cmd.Wait()
			}()
			b := &bound{limits: test.limits, group: &cgroup.Group{}}
			tree := &tree{shell: cmd.Process.Pid}
			look, deadline := b.next(), time.After(hangs)
			for over := false; !over; {
				select {
				case <-look:
					over, look = b.look(tree)
				case <-ended:
					over = true
				case <-deadline:
					t.Fatal("the tree was not ended")
				}
			}
			for _, pid := range descendants(os.Getpid(), 0) {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
			<-ended
			if got := b.end(); got != test.want {
				t.Errorf("exceeded %q, want %q", got, test.want)
			}
		})
	}
}

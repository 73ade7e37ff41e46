package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
)

var naps atomic.Int64

// nap returns a sleep that no other test has, to be counted by [sleeping].
func nap() string {
	return fmt.Sprintf("sleep 300.%d%04d", os.Getpid(), naps.Add(1))
}

// sleeping counts the living processes that run the nap.
func sleeping(t testing.TB, nap string) int {
	t.Helper()
	want := []byte(strings.ReplaceAll(nap, " ", "\x00") + "\x00")
	n := 0
	for pid, p := range processes() {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		if err == nil && !p.dead && bytes.HasSuffix(line, want) {
			n++
		}
	}
	return n
}

// trees are commands that do not end by themselves. Each prints when all its
// processes run; NAP stands for a nap. There is a file "started" once the helper has said that the
// shell runs.
func trees() map[string]string {
	return map[string]string{
		"plain":           "echo up; NAP",
		"setsid child":    "setsid NAP & echo up; NAP",
		"double fork":     "(setsid NAP >/dev/null 2>&1 & ) ; echo up; NAP",
		"ignores TERM":    "trap '' TERM; NAP & echo up; while :; do NAP; done",
		"shell survives":  "trap 'echo no' TERM; echo up; while :; do NAP; done",
		"nohup":           "nohup NAP >/dev/null 2>&1 & echo up; wait",
		"stopped child":   "NAP & kill -STOP $!; echo up; wait",
		"stopped helper":  "setsid NAP & until [ -e started ]; do sleep 0.01; done; kill -STOP $PPID; echo up; NAP",
		"storm":           "for i in $(seq 50); do setsid NAP & done; echo up; wait",
		"storm, no TERM":  "trap '' TERM; for i in $(seq 50); do setsid NAP & done; echo up; while :; do (setsid true &); done",
		"endless printer": "setsid NAP & yes",
	}
}

func TestGroup_StopLeavesNothing(t *testing.T) {
	for name, text := range trees() {
		t.Run(name, func(t *testing.T) {
			nap := nap()
			out := newOutput()
			s := spec(t, strings.ReplaceAll(text, "NAP", nap))
			p := start(t, s, out)
			if err := os.WriteFile(filepath.Join(s.Dir, "started"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			<-out.wrote
			var g Group
			g.Add(p)
			g.StopAll(ShutdownGrace)
			ctx, cancel := context.WithTimeout(t.Context(), testreq.Slack(2*time.Second))
			defer cancel()
			if err := g.WaitStopped(ctx); err != nil {
				t.Errorf("after 2 s: %v", err)
			}
			if n := sleeping(t, nap); n != 0 {
				t.Errorf("%d processes left", n)
			}
		})
	}
}

func TestWait_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text string }{
		{"background", "NAP & echo hi"},
		{"setsid", "setsid NAP & echo hi"},
		{"daemon", "(setsid NAP </dev/null >/dev/null 2>&1 &); echo hi"},
		{"ignores TERM", "trap '' TERM; setsid NAP & echo hi"},
		{"shell killed", "setsid NAP & echo hi; kill -KILL $$"},
		{"storm", "for i in $(seq 50); do setsid NAP & done; echo hi"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			nap := nap()
			out := newOutput()
			p := start(t, spec(t, strings.ReplaceAll(tt.text, "NAP", nap)), out)
			if _, err := wait(t, p); err != nil {
				t.Fatal(err)
			}
			if out.String() != "hi\n" {
				t.Errorf("output %q; want \"hi\\n\"", out)
			}
			if n := sleeping(t, nap); n != 0 {
				t.Errorf("%d processes left", n)
			}
		})
	}
}

// A helper stopped before it could say that the shell runs holds Start up, but
// not beyond the context.
func TestStart_HelperStopped(t *testing.T) {
	t.Parallel()
	nap := nap()
	ctx, cancel := context.WithCancel(t.Context())
	out := newOutput()
	ended := make(chan error, 1)
	go func() {
		s := spec(t, strings.ReplaceAll("kill -STOP $PPID; setsid NAP & echo up; NAP", "NAP", nap))
		p, err := launcher(t).StartStreams(ctx, s, Streams{Output: out})
		if err == nil { // the helper was quicker
			<-out.wrote
			p.Stop(0)
			<-p.Done()
		}
		ended <- err
	}()
	<-out.wrote
	cancel()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want %v", err, context.Canceled)
	}
	if n := sleeping(t, nap); n != 0 {
		t.Errorf("%d processes left", n)
	}
}

func TestProcess_HelperKilled(t *testing.T) {
	t.Parallel()
	nap := nap()
	text := strings.ReplaceAll("setsid NAP & kill -KILL $PPID; NAP", "NAP", nap)
	// The kill may come before or after the helper's word that the shell runs.
	p, err := launcher(t).StartStreams(t.Context(), spec(t, text), Streams{Output: newOutput()})
	if err == nil {
		_, err = wait(t, p)
	}
	if !errors.Is(err, ErrLost) {
		t.Errorf("got %v; want %v", err, ErrLost)
	}
	if n := sleeping(t, nap); n != 0 {
		t.Errorf("%d processes left", n)
	}
}

// childrenOf lists the living children of a process.
func childrenOf(parent int) (pids []int) {
	for pid, p := range processes() {
		if p.parent == parent && !p.dead {
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestProcess_AgentKilled(t *testing.T) {
	t.Parallel()
	nap := nap()
	agent := exec.Command(launcher(t).Self, agentArg, strings.ReplaceAll("trap '' TERM; setsid NAP & echo up; while :; do NAP; done", "NAP", nap))
	pipe, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command runs", func() bool { return sleeping(t, nap) == 2 })
	var helpers []int
	eventually(t, "a spare helper waits", func() bool {
		helpers = childrenOf(agent.Process.Pid)
		return len(helpers) == 2
	})
	_ = agent.Process.Kill()
	_ = agent.Wait()
	eventually(t, "the command is gone with its agent", func() bool { return sleeping(t, nap) == 0 })
	for _, pid := range helpers {
		gone(t, pid)
	}
}

func TestProcess_StopSendsTermFirst(t *testing.T) {
	t.Parallel()
	out := newOutput()
	s := spec(t, "trap 'echo bye >f; exit 7' TERM; echo up; while :; do sleep 0.01; done")
	p := start(t, s, out)
	<-out.wrote
	p.Stop(10 * time.Second)
	got, err := wait(t, p)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Status{ExitCode: 7}, got); d != "" {
		t.Errorf("status (-want +got):\n%s", d)
	}
	if b, _ := os.ReadFile(s.Dir + "/f"); string(b) != "bye\n" {
		t.Errorf("the TERM handler wrote %q", b)
	}
}

func TestProcess_StopDropsOutput(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, spec(t, "trap '' TERM; yes"), out)
	<-out.wrote
	p.Stop(100 * time.Millisecond)
	before := out.writes()
	if _, err := wait(t, p); err != nil {
		t.Fatal(err)
	}
	if after := out.writes(); after > before+1 {
		t.Errorf("%d writes after Stop; at most the one under way may come", after-before)
	}
}

func TestProcess_LaterStopShortensGrace(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, spec(t, "trap '' TERM; echo up; while :; do sleep 300; done"), out)
	<-out.wrote
	p.Stop(time.Hour)
	p.Stop(0)
	if got, err := wait(t, p); err != nil || got.Signal != "SIGKILL" {
		t.Errorf("got %+v, %v; want SIGKILL", got, err)
	}
}

func TestGroup_StopAllDoesNotWait(t *testing.T) {
	t.Parallel()
	out := newOutput()
	p := start(t, spec(t, "trap '' TERM; echo up; while :; do sleep 300; done"), out)
	<-out.wrote
	var g Group
	g.Add(p)
	g.StopAll(time.Hour)
	select {
	case <-p.Done():
		t.Error("it waited for the end of the command")
	default:
	}
}

func TestGroup_ClosedStopsLateComers(t *testing.T) {
	t.Parallel()
	p := start(t, spec(t, "sleep 300"), newOutput())
	var g Group
	g.Close(0)
	g.Add(p)
	if _, err := wait(t, p); err != nil {
		t.Error(err)
	}
}

func TestGroup_GoneWaitsForStoppedOnly(t *testing.T) {
	t.Parallel()
	var g Group
	if err := g.WaitStopped(t.Context()); err != nil {
		t.Errorf("empty group: %v", err)
	}
	p := start(t, spec(t, "trap '' TERM; while :; do sleep 300; done"), newOutput())
	g.Add(p)
	if err := g.WaitStopped(t.Context()); err != nil {
		t.Errorf("running command: %v", err)
	}
	p.Stop(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.WaitStopped(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("stopping command: got %v; want %v", err, context.Canceled)
	}
}

func TestStart_NoDescriptorsInherited(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	// As an editor does that does not close what it has open.
	if err := syscall.Dup3(int(null.Fd()), 77, 0); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(77)
	out := newOutput()
	s := spec(t, "exec ls /proc/self/fd")
	if _, err := wait(t, start(t, s, out)); err != nil {
		t.Fatal(err)
	}
	// 3 is the directory that ls reads.
	if d := cmp.Diff("0\n1\n2\n3\n", out.String()); d != "" {
		t.Errorf("descriptors (-want +got):\n%s", d)
	}
}

func TestStart_OwnSession(t *testing.T) {
	t.Parallel()
	out := newOutput()
	if _, err := wait(t, start(t, spec(t, "read -r _ _ _ _ group session _ </proc/$$/stat; echo $(($$-group)) $(($$-session))"), out)); err != nil {
		t.Fatal(err)
	}
	if out.String() != "0 0\n" {
		t.Errorf("distance to group and session leader: %q; want \"0 0\\n\"", out)
	}
}

func TestStart_Limits(t *testing.T) {
	t.Parallel()
	s := spec(t, "ulimit -St; ulimit -Ht; ulimit -Sf; ulimit -Hm; ulimit -Hc; ulimit -Hn; exec head -c 9000 /dev/zero >f")
	s.Limits = Limits{CPU: 7, Memory: 1 << 30, FileSize: 4096, Files: 100, Processes: 5000}
	out := newOutput()
	got, err := wait(t, start(t, s, out))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("7\n7\n4\n524288\n0\n100\n", out.String()); d != "" {
		t.Errorf("limits (-want +got):\n%s", d)
	}
	if got.Signal != "SIGXFSZ" || got.Exceeded != ExceededFileSize {
		t.Errorf("status %+v; want SIGXFSZ of the file size", got)
	}
}

func TestHelper_StepRestrictsShellAlone(t *testing.T) {
	t.Parallel()
	s := spec(t, "grep -h NoNewPrivs /proc/$$/status /proc/$PPID/status")
	s.Policy = []byte(`"restrict"`)
	out := newOutput()
	if _, err := wait(t, start(t, s, out)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("NoNewPrivs:\t1\nNoNewPrivs:\t0\n", out.String()); d != "" {
		t.Errorf("shell, helper (-want +got):\n%s", d)
	}
}

func TestHelper_StepRefuses(t *testing.T) {
	t.Parallel()
	s := spec(t, "echo never")
	s.Policy = []byte(`"refuse"`)
	out := newOutput()
	_, err := launcher(t).StartStreams(t.Context(), s, Streams{Output: out})
	if err == nil || !strings.Contains(err.Error(), "no sandbox here") || out.String() != "" {
		t.Errorf("got %v with output %q; want the step's error", err, out)
	}
}

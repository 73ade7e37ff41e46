package launch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/testkit/testreq"
)

// TestReuse_Streams has one helper serve commands with streams of all kinds, and looks that nothing of one is in the next.
func TestReuse_Streams(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	helper := 0
	for i, tt := range []struct {
		text, input     string
		separate        bool
		output, errored string
	}{
		{text: "echo out; echo err >&2", output: "out\nerr\n"},
		{text: "cat; echo err >&2", input: "in", separate: true, output: "in", errored: "err\n"},
		{text: "cat; echo err >&2", separate: true, errored: "err\n"},
		{text: "cat; echo err >&2", input: "in", output: "inerr\n"},
		{text: `cd /; export A=1; ulimit -n 50; umask 0; echo "$B"`, output: "\n"},
		{text: `echo "$A"; umask; pwd | wc -l`, output: "\n0022\n1\n"},
	} {
		out, errs := newOutput(), newOutput()
		s := Streams{Input: []byte(tt.input), Output: out}
		if tt.separate {
			s.Errors = errs
		}
		p, err := l.StartStreams(t.Context(), spec(t, tt.text), s)
		if err != nil {
			t.Fatal(err)
		}
		if status, err := wait(t, p); err != nil || status != (Status{}) || out.String() != tt.output || errs.String() != tt.errored {
			t.Errorf("%q: %q, %q, %+v, %v", tt.text, out, errs, status, err)
		}
		if i > 0 && p.cmd.Process.Pid != helper {
			t.Errorf("%q has helper %d; the one before had %d", tt.text, p.cmd.Process.Pid, helper)
		}
		helper = p.cmd.Process.Pid
	}
}

// TestReuse_LeavesNothing holds that a helper keeps no descriptor, process, thread or signal of a command.
func TestReuse_LeavesNothing(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	limited := spec(t, "(setsid sleep 300 &) ; echo up")
	limited.Limits = Limits{CPU: 600, FileSize: 1 << 30, Files: 100, Memory: 1 << 30, Processes: 1000}
	helper := run(t, l, limited)
	before := descriptors(t, helper)
	for range 20 {
		if got := run(t, l, limited); got != helper {
			t.Fatalf("helper %d after %d", got, helper)
		}
	}
	if after := descriptors(t, helper); !slices.Equal(before, after) {
		t.Errorf("descriptors %q, then %q", before, after)
	}
	if left := descendants(helper, 0); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	const most = 40 // the runtime's own threads grow slowly; each command had one of its own
	if threads := number(procFile(t, helper, "status"), "Threads:"); threads > most {
		t.Errorf("%d threads", threads)
	}
}

func procFile(t *testing.T, pid int, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(procDir(pid) + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// descriptors are the kinds of files that a process has open.
func descriptors(t *testing.T, pid int) (kinds []string) {
	t.Helper()
	dir := procDir(pid) + "/fd"
	for _, name := range namesIn(dir, 1000) {
		target, err := os.Readlink(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(target, ":")
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// TestReuse_StopIsForOneCommand stops commands at any moment, of which some have ended by then, and has another one
// follow at once.
func TestReuse_StopIsForOneCommand(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	for i := range 40 {
		p, err := l.StartStreams(t.Context(), spec(t, "read -t 0.01 <> <(:); true"), Streams{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i%8) * 2 * time.Millisecond)
		p.Stop(time.Minute)
		if _, err := wait(t, p); err != nil {
			t.Fatal(err)
		}
		run(t, l, spec(t, "echo up"))
	}
}

// TestReuse_AtOnce has more commands at once than helpers wait afterwards.
func TestReuse_AtOnce(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	for range 3 {
		var commands sync.WaitGroup
		for range 5 {
			commands.Go(func() { run(t, l, spec(t, "echo up")) })
		}
		commands.Wait()
		if got := waiting(l); len(got) == 0 || len(got) > maxSpares {
			t.Errorf("%d helpers wait", len(got))
		}
	}
}

// A piped program's output can be read after its helper has another command, and after that helper is gone.
func TestReuse_PipedOutputIsKept(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	p, err := l.StartPiped(t.Context(), spec(t, "echo kept"), nil)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	run(t, l, spec(t, "echo up"))
	l.Dismiss()
	if got, err := io.ReadAll(p.Stdout); err != nil || string(got) != "kept\n" {
		t.Errorf("%q, %v", got, err)
	}
	p.Stdout.Close()
}

// A signal ends a helper that waits, as it would end any program.
func TestReuse_SignalEndsOneThatWaits(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	helper := run(t, l, spec(t, "echo up"))
	if err := syscall.Kill(helper, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the helper is dead", func() bool { return processes()[helper].dead })
	if got := run(t, l, spec(t, "echo up")); got == helper {
		t.Error("the command has the dead helper")
	}
}

// A signal that a command sends to its helper ends no other command.
func TestReuse_NotAfterSignal(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	p, err := l.StartStreams(t.Context(), spec(t, "kill -TERM $PPID; read <> <(:)"), Streams{})
	if err != nil {
		t.Fatal(err)
	}
	if status, err := wait(t, p); err != nil || status.Signal != "SIGTERM" {
		t.Errorf("%+v, %v", status, err)
	}
	if got := run(t, l, spec(t, "echo up")); got == p.cmd.Process.Pid {
		t.Error("the command has the helper that got the signal")
	}
}

// The limits that a command gives its helper are not those of the next one.
func TestReuse_NotWithOtherLimits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prlimit"); err != nil {
		testreq.Skip(t, err.Error())
	}
	l := launcher(t)
	run(t, l, spec(t, "prlimit --pid $PPID --fsize=1:1; echo up"))
	run(t, l, spec(t, "[ \"$(ulimit -f)\" != 0 ] && echo up"))
}

// A command that could not be started, or of which a process could not be killed, takes its helper with it.
func TestReuse_NotAfterFailure(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	helper := run(t, l, spec(t, "echo up"))
	failing := spec(t, "echo up")
	failing.Shell.Path = "/nonexistent/shell"
	if _, err := l.StartStreams(t.Context(), failing, Streams{}); err == nil {
		t.Fatal("it started")
	}
	gone(t, helper)
	if got := waiting(l); got != nil {
		t.Errorf("%v wait", got)
	}
}

// A start that is cancelled when its command has started leaves its helper to other commands, and their streams alone.
func TestReuse_CancelledStart(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	var cancelled sync.WaitGroup
	for i := range 3 {
		cancelled.Go(func() {
			for j := range 80 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(5+(i+j)%20)*time.Millisecond/5)
				if p, err := l.StartStreams(ctx, spec(t, "true"), Streams{}); err == nil {
					_, _ = wait(t, p)
				}
				cancel()
			}
		})
	}
	for range 80 {
		run(t, l, spec(t, "read -t 0.003 <> <(:); echo up"))
	}
	cancelled.Wait()
}

// A helper that does not get its command is ended, and the reason is told.
func TestReuse_CommandNotSent(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	h, err := startHelper(l.helperArgv(Spec{}), wiring{})
	if err != nil {
		t.Fatal(err)
	}
	control := h.control // open, so that the helper goes on to wait
	defer control.Close()
	if h.control, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	p, err := l.handOver(ctx, spec(t, "echo up"), h, wiring{}, func(p *Process) { p.run(io.Discard, nil, nil) })
	if p != nil || !errors.Is(err, errIdle) || !errors.Is(err, unix.ENOTSOCK) {
		t.Errorf("%v, %v", p, err)
	}
}

// An agent of an earlier version, which speaks over a pipe, is told why its commands do not start once our binary was replaced.
func TestHelper_EarlierAgent(t *testing.T) {
	t.Parallel()
	var status bytes.Buffer
	helper := exec.Command(launcher(t).Self, HelperArg)
	helper.Stdin, helper.Stderr = strings.NewReader(`{"v":3}`+"\n"), &status
	if err := helper.Run(); err == nil || !strings.Contains(decodeRecord(status.Bytes()).Error, "restart the agent") {
		t.Errorf("%v with %q", err, &status)
	}
}

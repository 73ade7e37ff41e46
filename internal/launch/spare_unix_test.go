//go:build linux || darwin

package launch

import (
	"slices"
	"syscall"
	"testing"
)

// waiting are the process ids of the helpers that wait for a command, oldest first.
func waiting(l *Launcher) (pids []int) {
	l.spares.mu.Lock()
	defer l.spares.mu.Unlock()
	for _, s := range l.spares.waiting {
		<-s.started
		pids = append(pids, s.helper.cmd.Process.Pid)
	}
	return pids
}

// run runs a command to its end and returns its helper's process id.
func run(t *testing.T, l *Launcher, s Spec) int {
	t.Helper()
	out := newOutput()
	p, err := l.StartStreams(t.Context(), s, Streams{Output: out})
	if err != nil {
		t.Fatal(err)
	}
	if status, err := wait(t, p); err != nil || status.ExitCode != 0 || out.String() != "up\n" {
		t.Fatalf("%q, %+v, %v", out.String(), status, err)
	}
	return p.cmd.Process.Pid
}

func TestWarm_TheNextCommandHasTheHelper(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	l.Warm(nil)
	l.Warm(nil)
	want := waiting(l)
	if len(want) != 1 {
		t.Fatalf("%d helpers wait; want 1", len(want))
	}
	if got := run(t, l, spec(t, "echo up")); got != want[0] {
		t.Errorf("the command has helper %d; want %d", got, want[0])
	}
	if got := waiting(l); !servesOn && got != nil {
		t.Errorf("%v still wait", got)
	}
	run(t, l, spec(t, "echo up"))
}

// A helper in a namespace is not for commands outside of it, and there are two at most.
func TestWarm_ByTheWayIn(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	within, further := spec(t, "echo up"), spec(t, "echo up")
	within.Enter, further.Enter = []string{"/usr/bin/env"}, []string{"/usr/bin/env", "--"}
	l.Warm(nil)
	l.Warm(within.Enter)
	want := waiting(l)
	if got := run(t, l, within); got != want[1] {
		t.Errorf("the command within has helper %d; want %d", got, want[1])
	}
	if got := run(t, l, further); slices.Contains(want, got) {
		t.Errorf("the command further within has helper %d of %v", got, want)
	}
	l.Warm(within.Enter)
	l.Warm(further.Enter)
	if got := waiting(l); len(got) != maxSpares || slices.Contains(got, want[0]) {
		t.Errorf("%v wait; the oldest was %d", got, want[0])
	}
	gone(t, want[0])
}

// What ends a helper while it waits costs no command.
func TestWarm_HelperKilled(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	l.Warm(nil)
	killed := waiting(l)[0]
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := run(t, l, spec(t, "echo up")); got == killed {
		t.Error("the command has the helper that was killed")
	}
}

func TestWarm_NoHelper(t *testing.T) {
	t.Parallel()
	l := &Launcher{Self: "/nonexistent/helper"}
	l.Warm(nil)
	if _, err := l.StartStreams(t.Context(), spec(t, "echo up"), Streams{}); err == nil {
		t.Error("it started")
	}
	l.Dismiss()
}

func TestDismiss(t *testing.T) {
	t.Parallel()
	l := launcher(t)
	l.Warm(nil)
	pids := waiting(l)
	l.Dismiss()
	if len(pids) != 1 || waiting(l) != nil {
		t.Fatalf("%v, then %v", pids, waiting(l))
	}
	if err := syscall.Kill(pids[0], 0); err != syscall.ESRCH {
		t.Errorf("helper %d: %v", pids[0], err)
	}
}

// gone waits for the end of a process that no one else starts.
func gone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, "the helper is gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
}

package launch

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// nothingEscapes: orphans go to launchd, so a look at the process table is due
// even when the helper has no child left.
const nothingEscapes = false

func contain() error { return sealDescriptors("/dev/fd") }

func shellAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// onOwnThread runs f on a thread that nothing else will use.
func onOwnThread(f func()) {
	runtime.LockOSThread()
	f()
}

// forkLimited sets the limits on the helper itself: there is no way to set
// them on another process, and the helper stays far below them.
func forkLimited(start *Start, attr *syscall.ProcAttr, _ *bound) (int, error) {
	for resource, value := range start.Spec.Limits.rlimits() {
		var old unix.Rlimit
		if err := unix.Getrlimit(resource, &old); err != nil {
			return 0, err
		}
		v := min(value, old.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: v, Max: v}); err != nil {
			return 0, err
		}
	}
	return syscall.ForkExec(start.Argv[0], start.Argv, attr)
}

// descendants lists the living processes below root, and those of the shell's
// process group wherever they hang.
func descendants(root, shell int) []int {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	const zombie = 5 // SZOMB
	mine := map[int]bool{root: true}
	var out []int
	for grown := true; grown; {
		grown = false
		for i := range procs {
			pid := int(procs[i].Proc.P_pid)
			below := mine[int(procs[i].Eproc.Ppid)] || (shell > 1 && int(procs[i].Eproc.Pgid) == shell)
			if mine[pid] || !below {
				continue
			}
			mine[pid], grown = true, true
			if procs[i].Proc.P_stat != zombie {
				out = append(out, pid)
			}
		}
	}
	return out
}

// sweep ends what is left of the process group of a shell whose helper died.
func sweep(_ string, shell int) {
	if shell > 1 {
		_ = syscall.Kill(-shell, syscall.SIGKILL)
	}
}

// hand makes a file the next descriptor of the helper that cmd will start.
func hand(cmd *exec.Cmd, f *os.File) (uintptr, error) {
	const first = 3 // after the standard ones
	cmd.ExtraFiles = append(cmd.ExtraFiles, f)
	return uintptr(first + len(cmd.ExtraFiles) - 1), nil
}

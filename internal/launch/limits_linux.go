package launch

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// forkLimited starts the shell with its limits in force before its first
// instruction. Limits are inherited, but the helper cannot take them on, not
// even for a moment: its runtime needs threads and memory. So the shell starts
// traced, which stops it after it is loaded and before it runs. The caller
// stays on one thread, as tracing demands.
func forkLimited(start *Start, attr *syscall.ProcAttr) (int, error) {
	wanted := start.Spec.Limits.rlimits()
	attr.Sys.Ptrace = len(wanted) > 0
	pid, err := syscall.ForkExec(start.Argv[0], start.Argv, attr)
	if err != nil || len(wanted) == 0 {
		return pid, err
	}
	if err := limitStopped(pid, wanted); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
		return 0, fmt.Errorf("limit the shell: %w", err)
	}
	return pid, nil
}

func limitStopped(pid int, wanted map[int]uint64) error {
	var ws syscall.WaitStatus
	for {
		_, err := syscall.Wait4(pid, &ws, 0, nil)
		if err == nil {
			break
		}
		if err != syscall.EINTR {
			return err
		}
	}
	if !ws.Stopped() {
		return fmt.Errorf("it ended with status %#x", int(ws))
	}
	for resource, value := range wanted {
		var old unix.Rlimit
		if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
			return err
		}
		value = min(value, old.Max)
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: min(value, old.Cur), Max: value}, nil); err != nil {
			return err
		}
	}
	return syscall.PtraceDetach(pid)
}

package launch

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"acp-agent/internal/cgroup"
)

// forkLimited starts the shell with its limits in force before its first
// instruction. Limits are inherited, but the helper cannot take them on, not
// even for a moment: its runtime needs threads. So the shell starts
// traced, which stops it after it is loaded and before it runs. The caller
// stays on one thread, as tracing demands. Where tracing is forbidden, the
// limits are in force just after the start.
func forkLimited(start *Start, attr *syscall.ProcAttr, b *bound) (int, error) {
	wanted := start.Spec.Limits.rlimits()
	if start.Fork != nil {
		return forkBounded(start, attr, b, wanted)
	}
	attr.Sys.Ptrace = len(wanted) > 0
	pid, err := forkInto(b.group, start, attr)
	if err == syscall.EPERM && attr.Sys.Ptrace {
		attr.Sys.Ptrace = false
		pid, err = forkInto(b.group, start, attr)
	}
	if err != nil || len(wanted) == 0 {
		return pid, err
	}
	countProcesses(wanted, start, b)
	if err := limitChild(pid, attr.Sys.Ptrace, wanted, b.group); err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		_, _ = syscall.Wait4(pid, nil, 0, nil)
		return 0, fmt.Errorf("limit the shell: %w", err)
	}
	return pid, nil
}

// countProcesses adds the limit of processes to the ones of a single process, where nothing else holds it.
func countProcesses(wanted map[int]uint64, start *Start, b *bound) {
	if _, processes := b.polled(); processes && len(wanted) > 0 {
		// The kernel counts all threads of the user, whatever started them.
		wanted[unix.RLIMIT_NPROC] = systemThreads() + start.Spec.Limits.Processes
	}
}

// forkBounded is forkLimited where a step has a way of its own to fork, which needs no tracing: its process waits
// until it is bounded.
func forkBounded(start *Start, attr *syscall.ProcAttr, b *bound, wanted map[int]uint64) (int, error) {
	countProcesses(wanted, start, b)
	leave := b.group.Enter()
	defer leave()
	ready := func(pid int) error {
		if err := restoreFiles(pid, start.Spec.openFiles); err != nil {
			return err
		}
		return limitChild(pid, false, wanted, b.group)
	}
	attr.Sys.CgroupFD, attr.Sys.UseCgroupFD = b.group.StartIn()
	return forkAgain(attr.Sys, func() (int, error) { return start.Fork(start.Argv, attr, ready) })
}

// forkAgain forks once more without the cgroup where the system made no process in it. Any other failure is of
// what the process was to do, and would only come again.
func forkAgain(sys *syscall.SysProcAttr, fork func() (int, error)) (int, error) {
	pid, err := fork()
	if _, ok := errors.AsType[NotForked](err); ok && sys.UseCgroupFD {
		sys.UseCgroupFD = false // an old kernel, or a filter of system calls
		return fork()
	}
	return pid, err
}

// restoreFiles gives a process that was not started by package syscall the limit of open files that this one was
// started with, as the agent says, or as is found out here where a client started this one.
func restoreFiles(pid int, former *openFiles) error {
	if former == nil {
		former = startedFiles()
	}
	if former == nil {
		return nil
	}
	return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: former.Soft, Max: former.Hard}, nil)
}

// startedFiles returns the limit of open files that this process was started with, which it gives to every process that
// it starts; nil where that is not another one than it has, or cannot be found out. Package syscall raises the limit,
// gives each process that it starts the former one, and keeps that to itself. So a program is started once, and ended
// before it does anything, to see what it has. It is our own one: another may not be there in our view. Nothing here
// sets the limit later.
var startedFiles = sync.OnceValue(func() *openFiles {
	const program = "/proc/self/exe"
	var raised, former unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_NOFILE, nil, &raised); err != nil || raised.Cur != raised.Max-1 {
		return nil
	}
	runtime.LockOSThread() // the one that traces a process has to see its stop
	defer runtime.UnlockOSThread()
	probe, err := syscall.ForkExec(program, []string{program}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return nil // tracing is forbidden; the program that is to be started reports all else
	}
	err = errors.Join(awaitStop(probe), unix.Prlimit(probe, unix.RLIMIT_NOFILE, nil, &former))
	_ = syscall.Kill(probe, syscall.SIGKILL)
	_, _ = syscall.Wait4(probe, nil, 0, nil)
	if err != nil {
		return nil
	}
	return &openFiles{Soft: former.Cur, Hard: former.Max}
})

// forkInto starts the shell in a cgroup where the kernel can do that; elsewhere it is
// moved there while it is stopped, which takes longer (cgroup.Group.Enter).
func forkInto(group *cgroup.Group, start *Start, attr *syscall.ProcAttr) (int, error) {
	leave := group.Enter()
	defer leave()
	if attr.Sys.CgroupFD, attr.Sys.UseCgroupFD = group.StartIn(); attr.Sys.UseCgroupFD {
		if pid, err := syscall.ForkExec(start.Argv[0], start.Argv, attr); err == nil {
			return pid, nil
		}
		attr.Sys.UseCgroupFD = false // an old kernel, or a filter of system calls
	}
	return syscall.ForkExec(start.Argv[0], start.Argv, attr)
}

// limitChild puts the limits on the shell and lets it run.
func limitChild(pid int, traced bool, wanted map[int]uint64, group *cgroup.Group) error {
	if traced {
		if err := awaitStop(pid); err != nil {
			return err
		}
	}
	group.Add(pid)
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
	if traced {
		return syscall.PtraceDetach(pid)
	}
	return nil
}

// ownLimits are the limits of a process, by the kernel's numbers.
type ownLimits [16]unix.Rlimit

// readOwnLimits returns those of this process. A command that no sandbox keeps from it can change them.
func readOwnLimits() (l ownLimits) {
	for resource := range l {
		_ = unix.Prlimit(0, resource, nil, &l[resource]) // of itself, and of a number that there is, it does not fail
	}
	return l
}

// awaitStop waits until a traced process is loaded.
func awaitStop(pid int) error {
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
	return nil
}

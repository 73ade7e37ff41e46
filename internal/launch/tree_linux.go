package launch

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// nothingEscapes: a subreaper without children has no descendants.
const nothingEscapes = true

// contain makes the helper the new parent of every orphan of its tree, and
// keeps its own surroundings from the command.
func contain() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	// In the terminal form we hold the editor's environment, which may hold
	// secrets. Not dumpable, /proc shows it to root alone.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hide environment: %w", err)
	}
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		return sealDescriptors("/proc/self/fd")
	}
	return nil
}

// shellAttr: the shell dies with the thread that started it, and so with the
// helper.
func shellAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// onOwnThread runs f on a thread that nothing else will use. It is never the
// main thread: whether one process may signal another is judged by the other's
// main thread, which must stay outside a sandbox that f enters.
func onOwnThread(f func()) {
	runtime.LockOSThread()
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	done := make(chan struct{})
	go func() { // cannot get the main thread while we hold it
		defer close(done)
		runtime.LockOSThread()
		f()
	}()
	<-done
}

// forkLimited starts the shell with its limits in force before its first
// instruction. Limits are inherited, but the helper cannot take them on, not
// even for a moment: its runtime needs threads and memory. So the shell starts
// traced, which stops it after it is loaded and before it runs. The caller
// stays on one thread, as tracing demands.
func forkLimited(spec Spec, attr *syscall.ProcAttr) (int, error) {
	wanted := spec.Limits.rlimits()
	attr.Sys.Ptrace = len(wanted) > 0
	pid, err := syscall.ForkExec(spec.Shell.Path, spec.argv(), attr)
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

// process is a line of the process table.
type process struct {
	parent int
	dead   bool // waits to be reaped
}

// descendants lists the living processes below root.
func descendants(root, _ int) []int {
	table := processes()
	children := make(map[int][]int, len(table))
	for pid, p := range table {
		children[p.parent] = append(children[p.parent], pid)
	}
	var out []int
	for next := children[root]; len(next) > 0; {
		pid := next[len(next)-1]
		next = append(next[:len(next)-1:len(next)-1], children[pid]...)
		if !table[pid].dead {
			out = append(out, pid)
		}
	}
	return out
}

// processes reads the process table. What ends while it is read is left out;
// callers repeat until nothing is left.
func processes() map[int]process {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	table := make(map[int]process, len(names))
	buf := make([]byte, 512)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := readStat(name, buf); ok {
			table[pid] = p
		}
	}
	return table
}

func readStat(pid string, buf []byte) (process, bool) {
	// The system calls themselves: os.Open costs four more of them, and this
	// runs once for every process of the machine.
	fd, err := unix.Open("/proc/"+pid+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return process{}, false
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return process{}, false
	}
	return parseStat(buf[:n])
}

// parseStat reads `pid (name) state parent ...`. The name is the program's own
// choice and may hold anything, parentheses included.
func parseStat(stat []byte) (process, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return process{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 2 {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return process{}, false
	}
	state := fields[0][0]
	return process{parent: parent, dead: state == 'Z' || state == 'X'}, true
}

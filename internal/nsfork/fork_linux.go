package nsfork

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Process is a program and what is around it.
type Process struct {
	// Argv is the program, by the path that it has in the view that Build makes, and its arguments.
	Argv []string
	// Env is the whole environment as NAME=value.
	Env []string
	// Dir is the directory that it starts in, a path in the view.
	Dir string
	// Files become its descriptors from 0 on. It has no others.
	Files []uintptr
	// Network gives it a network namespace of its own.
	Network bool
	// Cgroup is the descriptor of the cgroup that it starts in; nil is that of the caller.
	Cgroup *int
	// Build is made by the first process of the namespaces, which has all rights over them, Enter after
	// it by the program's own process.
	Build, Enter *Script
	// Ready, unless nil, is called with the first process, while it makes what Build has, to bound it before there is
	// any other.
	Ready func(pid int) error
}

// ErrClone is an error of [Start] that says that the system made no process with these namespaces, in this cgroup.
var ErrClone = errors.New("make namespaces")

// maxFiles bounds the descriptors of a program.
const maxFiles = registers - 1

// failed is the exit code of a process that has not become the program.
const failed = 125

// plan is what the child reads, written before the fork, and where it keeps what does not fit on its stack.
type plan struct {
	clone     cloneArgs
	cloneSize uintptr // 0 asks for the older call
	gate      uintptr // a byte comes when the child may start the program
	opener    uintptr // its other end
	report    uintptr // gets the failure; its end says that there is none
	build     []call
	enter     []call
	failure   [2]int32 // number of the call, and error
	held      [registers]uintptr
	args      [6]uintptr
}

// cloneArgs is the kernel's struct clone_args (CLONE_ARGS_SIZE_VER2).
type cloneArgs struct {
	flags, pidFD, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

// Start forks, and returns the first process of the namespaces, a child of the caller, when the program
// runs. An error means that nothing runs. The child dies with the calling thread, which the caller holds.
func Start(p Process) (pid int, err error) {
	if p.Build == nil || p.Enter == nil || len(p.Argv) == 0 || len(p.Files) > maxFiles {
		return 0, errors.New("nsfork: incomplete process")
	}
	enter, err := p.program()
	if err = errors.Join(err, p.Build.err, p.Enter.err); err != nil {
		return 0, err
	}
	gate, err := newPipe()
	if err != nil {
		return 0, err
	}
	defer gate.close()
	report, err := newPipe()
	if err != nil {
		return 0, err
	}
	defer report.close()
	todo := &plan{
		clone: cloneArgs{flags: namespaces, exitSignal: uint64(unix.SIGCHLD)},
		gate:  gate.r.Fd(), opener: gate.w.Fd(), report: report.w.Fd(), build: p.Build.calls, enter: enter.calls,
	}
	if p.Network {
		todo.clone.flags |= unix.CLONE_NEWNET
	}
	if p.Cgroup != nil {
		todo.clone.flags |= unix.CLONE_INTO_CGROUP
		todo.clone.cgroup, todo.cloneSize = uint64(*p.Cgroup), unsafe.Sizeof(todo.clone)
	}
	syscall.ForkLock.Lock()
	pid, errno := fork(todo)
	syscall.ForkLock.Unlock()
	if errno != 0 {
		return 0, fmt.Errorf("%w: %w", ErrClone, errno)
	}
	err = begin(p, pid, gate, report, slices.Concat(p.Build.whats, []string{"start a process"}, enter.whats))
	runtime.KeepAlive(p)
	runtime.KeepAlive(enter)
	runtime.KeepAlive(todo)
	if err != nil {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		wait(pid)
		return 0, err
	}
	return pid, nil
}

// namespaces are the ones that every process gets.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// begin lets the child start the program, and waits until that runs.
func begin(p Process, pid int, gate, report pipe, whats []string) (err error) {
	gate.r.Close()
	report.w.Close()
	if p.Ready != nil {
		err = p.Ready(pid)
	}
	if err == nil {
		_, err = gate.w.Write([]byte{1})
	}
	if err != nil {
		// The child may have failed first, which is the better reason then. Killed, it says so or nothing.
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	var failure [2]int32
	text := unsafe.Slice((*byte)(unsafe.Pointer(&failure)), unsafe.Sizeof(failure))
	switch n, rerr := report.r.Read(text); {
	case rerr == io.EOF:
		return err
	case n != len(text):
		return fmt.Errorf("begin in namespaces: %w", errors.Join(err, rerr))
	}
	at := min(max(int(failure[0]), 0), len(whats)-1)
	if errno := unix.Errno(failure[1]); errno != 0 {
		return fmt.Errorf("%s: %w", whats[at], errno)
	}
	return fmt.Errorf("%s: cut short", whats[at])
}

// wait reaps a child that was killed.
func wait(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// pipe has both of its ends until they are closed.
type pipe struct{ r, w *os.File }

func newPipe() (pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return pipe{}, fmt.Errorf("make a pipe: %w", err)
	}
	return pipe{r, w}, nil
}

func (p pipe) close() {
	p.r.Close()
	p.w.Close()
}

// program is the script of the program's own process: a session of its own, its descriptors and its directory
// first, then what Enter has, which may forbid these, and the program last.
func (p *Process) program() (*Script, error) {
	argv, err := syscall.SlicePtrFromStrings(p.Argv)
	if err != nil {
		return nil, fmt.Errorf("argument holds a NUL byte: %w", err)
	}
	env, err := syscall.SlicePtrFromStrings(p.Env)
	if err != nil {
		return nil, fmt.Errorf("environment holds a NUL byte: %w", err)
	}
	s := &Script{keep: []any{argv, env, p.Enter}}
	s.add("begin a session", call{nr: unix.SYS_SETSID})
	s.files(p.Files)
	s.add("enter "+p.Dir, call{nr: unix.SYS_CHDIR, args: [6]uintptr{s.text(p.Dir)}})
	s.calls, s.whats = append(s.calls, p.Enter.calls...), append(s.whats, p.Enter.whats...)
	s.add("start "+p.Argv[0], call{
		nr: unix.SYS_EXECVE, args: [6]uintptr{uintptr(unsafe.Pointer(argv[0])), s.pointer(unsafe.Pointer(&argv[0])), s.pointer(unsafe.Pointer(&env[0]))},
	})
	return s, s.err
}

// files puts the program's descriptors in their places. They are first copied to where none of the
// places is.
func (s *Script) files(files []uintptr) {
	held := make([]register, len(files))
	for i, fd := range files {
		held[i] = s.register()
		s.add("hand over a descriptor", call{
			nr: unix.SYS_FCNTL, into: held[i], args: [6]uintptr{fd, unix.F_DUPFD_CLOEXEC, uintptr(len(files))},
		})
	}
	for i := range files {
		s.add("hand over a descriptor", call{nr: unix.SYS_DUP3, from: [6]register{held[i]}, args: [6]uintptr{0, uintptr(i)}})
	}
	s.used -= len(files)
	s.add("close the other descriptors", call{
		nr: unix.SYS_CLOSE_RANGE, args: [6]uintptr{uintptr(len(files)), math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC},
	})
}

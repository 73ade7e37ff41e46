package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// traced is what a shell and all that it started did that a reading command must not do.
type traced struct {
	output   string
	offences []string
}

// tracer follows one command with ptrace, system call by system call, from the moment
// when bash begins. It lives on one thread.
type tracer struct {
	// reads says whether a file may be opened for reading, links followed.
	reads func(path string) bool
	armed map[int]bool     // threads of bash and of what it started
	asked map[int]syscalls // calls that were begun
	// known are threads whose beginning was told by those that began them. A new thread
	// may stop before that, and is held until then: nobody knows yet whose it is.
	known, held map[int]bool
	found       []string
}

// syscalls is a call that was begun.
type syscalls struct {
	nr   uint64
	args [6]uint64
	path string // of those that name one
}

const (
	ptraceGetSyscallInfo = 0x420e
	ptraceOptions        = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC |
		unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL
	syscallStop = syscall.SIGTRAP | 0x80
)

// traceShell runs argv, which starts a bash at some point, and returns what that did. The
// error says that it could not be traced.
func traceShell(argv []string, dir string, reads func(string) bool, limit time.Duration) (traced, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	out, err := os.CreateTemp("", "trace-")
	if err != nil {
		return traced{}, err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.Env = dir, out, out, []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return traced{}, err
	}
	kill := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	t := &tracer{reads: reads, armed: map[int]bool{}, asked: map[int]syscalls{}, known: map[int]bool{}, held: map[int]bool{}}
	if err := t.follow(cmd.Process.Pid); err != nil {
		return traced{}, err
	}
	_ = cmd.Process.Release()
	text, err := os.ReadFile(out.Name())
	return traced{string(text), t.found}, err
}

func (t *tracer) follow(first int) error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(first, &status, 0, nil); err != nil {
		return err
	}
	t.known[first] = true
	if err := unix.PtraceSetOptions(first, ptraceOptions); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if err := unix.PtraceSyscall(first, 0); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	for {
		// Only what this thread has started: other tests have children of their own.
		tid, err := syscall.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.ECHILD:
			return nil
		case err != nil:
			return err
		}
		if status.Exited() || status.Signaled() {
			delete(t.armed, tid)
			delete(t.known, tid)
			delete(t.held, tid)
			continue
		}
		signal := status.StopSignal()
		switch {
		case signal == syscallStop:
			t.called(tid)
			signal = 0
		case signal == syscall.SIGTRAP:
			t.event(tid, status.TrapCause())
			signal = 0
		case signal == syscall.SIGSTOP && !t.known[tid]:
			t.held[tid] = true
			continue
		case signal == syscall.SIGSTOP:
			signal = 0 // that of a new thread
		}
		_ = unix.PtraceSyscall(tid, int(signal)) // it may be gone
	}
}

// event notes who is the shell's: bash from its exec on, and whoever it starts.
func (t *tracer) event(tid, cause int) {
	switch cause {
	case unix.PTRACE_EVENT_EXEC:
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", tid))
		if filepath.Base(exe) == "bash" {
			t.armed[tid] = true
		}
		if t.armed[tid] && !systemPath(exe) {
			t.found = append(t.found, "runs "+exe)
		}
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		msg, err := unix.PtraceGetEventMsg(tid)
		child := int(msg)
		if err != nil {
			t.found = append(t.found, "began what could not be followed: "+err.Error())
			return
		}
		t.known[child] = true
		if t.armed[tid] {
			t.armed[child] = true
		}
		if t.held[child] {
			delete(t.held, child)
			_ = unix.PtraceSyscall(child, 0) // it may be gone
		}
	}
}

// called looks at a call as it begins, and again as it ends, when it is known to have
// done something.
func (t *tracer) called(tid int) {
	if !t.armed[tid] {
		return
	}
	var info [88]byte
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PTRACE, ptraceGetSyscallInfo, uintptr(tid), uintptr(len(info)), uintptr(unsafe.Pointer(&info)), 0, 0); errno != 0 {
		t.found = append(t.found, "could not be looked at: "+errno.Error())
		return
	}
	switch info[0] {
	case 1: // entry
		var c syscalls
		c.nr = binary.NativeEndian.Uint64(info[24:])
		for i := range c.args {
			c.args[i] = binary.NativeEndian.Uint64(info[32+8*i:])
		}
		c.path = t.path(tid, c)
		t.asked[tid] = c
	case 2: // exit
		c, ok := t.asked[tid]
		if delete(t.asked, tid); ok && info[32] == 0 { // no error
			if offence := t.offence(c); offence != "" {
				t.found = append(t.found, offence)
			}
		}
	}
}

// offence says what a call that succeeded did that it must not.
func (t *tracer) offence(c syscalls) string {
	flags, opens := uint64(0), false
	switch c.nr {
	case unix.SYS_SOCKET:
		if c.args[0] != unix.AF_UNIX { // libc asks for a cache of names in the box, where there is none
			return fmt.Sprintf("opens a socket of family %d", c.args[0])
		}
		return ""
	case unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_PTRACE, unix.SYS_MOUNT:
		return fmt.Sprintf("makes call %d", c.nr)
	case unix.SYS_OPENAT:
		flags, opens = c.args[2], true
	case unix.SYS_OPENAT2:
		return "opens with openat2, which is not looked into"
	}
	if f, ok := openedOld(c); ok {
		flags, opens = f, true
	}
	switch {
	case !opens && changing(c.nr):
		return fmt.Sprintf("changes %s (call %d)", c.path, c.nr)
	case !opens || strings.HasPrefix(c.path, "pipe:"):
		return ""
	case c.path == "/dev/null" || c.path == "/dev/tty":
		return ""
	case flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) != 0:
		return "opens for writing " + c.path
	case flags&unix.O_PATH != 0 || t.reads(c.path):
		return ""
	}
	return "reads " + c.path
}

// path is the absolute path that a call names, as far as it names one.
func (t *tracer) path(tid int, c syscalls) string {
	at, name, ok := pathArguments(c)
	if !ok {
		return ""
	}
	text := readString(tid, uintptr(name))
	if filepath.IsAbs(text) {
		return filepath.Clean(text)
	}
	base := fmt.Sprintf("/proc/%d/cwd", tid)
	if at != unix.AT_FDCWD {
		base = fmt.Sprintf("/proc/%d/fd/%d", tid, at)
	}
	dir, _ := os.Readlink(base)
	return filepath.Join(dir, text)
}

func readString(tid int, at uintptr) string {
	var text []byte
	var word [64]byte
	for len(text) < 4096 {
		n, err := unix.PtracePeekData(tid, at+uintptr(len(text)), word[:])
		if end := bytes.IndexByte(word[:n], 0); end >= 0 {
			return string(append(text, word[:end]...))
		}
		if text = append(text, word[:n]...); err != nil || n == 0 {
			break
		}
	}
	return string(text)
}

// systemPath reports what belongs to the system and not to a person.
func systemPath(path string) bool {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"} {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return false
}

package shelltrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"acp-agent/internal/pathname"
)

const ptraceOptions = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC |
	unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL

// tracer follows the processes of a batch with ptrace. It lives on one thread; the timer
// of a text is the only other goroutine, and mu guards what that looks at.
type tracer struct {
	// reads says whether a file may be opened for reading, links followed.
	reads   func(path string) bool
	limit   time.Duration
	results []Result
	driver  int // the bash that starts the texts
	// text is, by process, the number of the text that it belongs to; bubblewrap and the driver have
	// none.
	text map[int]int
	// armed are the processes of a text from the exec of its bash on.
	armed map[int]bool
	// known are processes whose start was reported by the process that started them. A new one
	// may stop before that, and is held until then.
	known, held map[int]bool
	pending     map[int]string // an offence if the call succeeds
	next        int            // the text that the driver starts next
	timer       *time.Timer
	mu          sync.Mutex // see tracer
}

// follow traces a process and all that descend from it, until none of them is left.
func (t *tracer) follow(first int) error {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(first, &status, 0, nil); err != nil {
		return err
	}
	t.known[first] = true
	if err := unix.PtraceSetOptions(first, ptraceOptions); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if err := unix.PtraceCont(first, 0); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	for len(t.known)+len(t.held) > 0 {
		tid, err := t.awaitTraced()
		if err == nil {
			_, err = syscall.Wait4(tid, &status, unix.WALL|unix.WNOTHREAD, nil)
		}
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.ECHILD):
			return nil
		case err != nil:
			return err
		case status.Exited() || status.Signaled():
			t.forget(tid)
		default:
			t.stopped(tid, status)
		}
	}
	return nil
}

// What waitid says of a child (sigaction(2)).
const (
	childTrapped = 4  // CLD_TRAPPED
	childPID     = 16 // where the id stands in siginfo_t
)

// awaitTraced returns a process that is traced and has stopped or ended, and leaves its state to be
// read. Of the children of this thread some may be of other tests, which ran on it before: they end
// without having been seen, and are left to what waits for them.
func (t *tracer) awaitTraced() (tid int, err error) {
	for {
		var info unix.Siginfo
		if err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WSTOPPED|unix.WALL|unix.WNOTHREAD|unix.WNOWAIT, nil); err != nil {
			return 0, err
		}
		tid := int(*(*int32)(unsafe.Add(unsafe.Pointer(&info), childPID)))
		if info.Code == childTrapped || t.known[tid] || t.held[tid] {
			return tid, nil
		}
		time.Sleep(time.Millisecond)
	}
}

func (t *tracer) forget(tid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.text, tid)
	delete(t.armed, tid)
	delete(t.known, tid)
	delete(t.held, tid)
	delete(t.pending, tid)
}

// stopped handles one stop of a process and lets it run on.
func (t *tracer) stopped(tid int, status syscall.WaitStatus) {
	signal := status.StopSignal()
	resume := unix.PtraceCont
	switch {
	case signal == syscall.SIGTRAP|0x80:
		t.callEnded(tid)
		signal = 0
	case signal == syscall.SIGTRAP && status.TrapCause() == unix.PTRACE_EVENT_SECCOMP:
		if t.armed[tid] && t.callBegun(tid) {
			resume = unix.PtraceSyscall // the end of the call matters
		}
		signal = 0
	case signal == syscall.SIGTRAP:
		t.event(tid, status.TrapCause())
		signal = 0
	case signal == syscall.SIGSTOP && !t.known[tid]:
		t.held[tid] = true
		return
	case signal == syscall.SIGSTOP:
		signal = 0 // that of a new process
	}
	_ = resume(tid, int(signal)) // it may be gone
}

// event follows the starts of processes and of programs.
func (t *tracer) event(tid, cause int) {
	switch cause {
	case unix.PTRACE_EVENT_EXEC:
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", tid))
		_, ofText := t.text[tid]
		switch bash := strings.HasPrefix(filepath.Base(exe), "bash"); {
		case bash && ofText:
			t.armed[tid] = true
		case bash && t.driver == 0:
			t.driver = tid
		}
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		msg, err := unix.PtraceGetEventMsg(tid)
		if err != nil {
			t.offend(tid, "starts what could not be followed: "+err.Error())
			return
		}
		t.childStarted(tid, int(msg))
	}
}

// childStarted gives a new process the text of its parent; a child of the driver begins the next one.
func (t *tracer) childStarted(parent, child int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[child] = true
	if parent == t.driver && t.next < len(t.results) {
		t.text[child] = t.next
		t.limitTime(t.next)
		t.next++
	} else if text, ok := t.text[parent]; ok {
		t.text[child] = text
		t.armed[child] = t.armed[parent]
	}
	if t.held[child] {
		delete(t.held, child)
		_ = unix.PtraceCont(child, 0) // it may be gone
	}
}

// limitTime ends the processes of a text that takes too long.
func (t *tracer) limitTime(text int) {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer = time.AfterFunc(t.limit, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		for tid, of := range t.text {
			if of == text && t.armed[tid] {
				t.results[text].Endless = true
				_ = unix.Kill(tid, unix.SIGKILL) // it may be gone
			}
		}
	})
}

func (t *tracer) offend(tid int, what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, ok := t.text[tid]; ok {
		t.results[text].Offences = append(t.results[text].Offences, what)
	}
}

// callBegun judges a call that begins, and reports whether its result has to be seen as well.
func (t *tracer) callBegun(tid int) (end bool) {
	var regs unix.PtraceRegs
	switch err := unix.PtraceGetRegs(tid, &regs); {
	case errors.Is(err, unix.ESRCH):
		return false // it was killed at this stop, before the call did anything
	case err != nil:
		t.offend(tid, "could not be looked at: "+err.Error())
		return false
	}
	c := call{nr: regs.Orig_rax, args: [6]uint64{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9}}
	switch {
	case slices.Contains(starting, c.nr):
		t.recordProgram(tid, c)
		return false
	case slices.Contains(reaching, c.nr):
		if !localSocket(tid, c) {
			t.offend(tid, fmt.Sprintf("makes call %d, socket and the like (%d)", c.nr, c.args[0]))
		}
		return false
	}
	c.path = t.path(tid, c)
	flags, opens := openFlags(c)
	switch {
	case !opens:
		t.offend(tid, fmt.Sprintf("changes %s (call %d)", c.path, c.nr))
	case c.path == "/dev/null" || c.path == "/dev/full" || c.path == "/dev/tty" || strings.HasPrefix(c.path, "/tmp/sh-thd"):
	case flags&(unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC) != 0:
		t.offend(tid, "opens for writing "+c.path)
	case flags&unix.O_PATH == 0 && !systemPath(c.path) && !t.reads(c.path), strings.HasSuffix(c.path, "/environ"):
		t.pending[tid] = "reads " + c.path
		return true
	}
	return false
}

// callEnded looks at the result of a call for which callBegun wanted that.
func (t *tracer) callEnded(tid int) {
	what := t.pending[tid]
	delete(t.pending, tid)
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err == nil && int64(regs.Rax) >= 0 {
		t.offend(tid, what)
	}
}

// localSocket reports whether a call only makes a socket of the local machine, or connects it to
// libc's cache of names, which libc tries first and does not find in the box.
func localSocket(tid int, c call) bool {
	switch c.nr {
	case unix.SYS_SOCKET:
		return c.args[0] == unix.AF_UNIX
	case unix.SYS_CONNECT:
		address := readMemory(tid, uintptr(c.args[1]), 64)
		return len(address) > 2 && binary.NativeEndian.Uint16(address) == unix.AF_UNIX && bytes.Contains(address, []byte("/nscd/"))
	}
	return false
}

// recordProgram records a program that is started, with its arguments.
func (t *tracer) recordProgram(tid int, c call) {
	name, argv := c.args[0], c.args[1]
	if c.nr == unix.SYS_EXECVEAT {
		name, argv = c.args[1], c.args[2]
	}
	program := []string{readString(tid, uintptr(name))}
	for i := uintptr(1); ; i++ {
		pointer := readMemory(tid, uintptr(argv)+8*i, 8)
		if len(pointer) < 8 || binary.NativeEndian.Uint64(pointer) == 0 {
			break
		}
		program = append(program, readString(tid, uintptr(binary.NativeEndian.Uint64(pointer))))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if text, ok := t.text[tid]; ok {
		t.results[text].Programs = append(t.results[text].Programs, program)
	}
}

// path is the absolute path that a call names.
func (t *tracer) path(tid int, c call) string {
	at, name := unix.AT_FDCWD, c.args[0]
	switch {
	case slices.Contains(changingOpen, c.nr):
		path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, c.args[0]))
		return path
	case slices.Contains(changingAt, c.nr), c.nr == unix.SYS_OPENAT, c.nr == unix.SYS_OPENAT2:
		at, name = int(int32(c.args[0])), c.args[1]
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

// readMemory reads up to size bytes of a process, fewer at the end of what it has.
func readMemory(tid int, at uintptr, size int) []byte {
	data := make([]byte, size)
	local := []unix.Iovec{{Base: &data[0]}}
	local[0].SetLen(size)
	n, _ := unix.ProcessVMReadv(tid, local, []unix.RemoteIovec{{Base: at, Len: size}}, 0)
	return data[:max(n, 0)]
}

func readString(tid int, at uintptr) string {
	var text []byte
	for len(text) < 1<<17 {
		here := at + uintptr(len(text))
		piece := readMemory(tid, here, 4096-int(here%4096)) // no further than the page
		if end := bytes.IndexByte(piece, 0); end >= 0 {
			return string(append(text, piece[:end]...))
		}
		if text = append(text, piece...); len(piece) == 0 {
			break
		}
	}
	return string(text)
}

// systemPath reports what belongs to the system and not to a user.
func systemPath(path string) bool {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev"} {
		if pathname.Contains(dir, path) {
			return true
		}
	}
	return strings.HasPrefix(path, "pipe:")
}

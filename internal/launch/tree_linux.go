package launch

import (
	"fmt"
	"math"
	"runtime"
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

package nsfork

import (
	"math"
	"syscall"
	"unsafe" // and go:linkname

	"golang.org/x/sys/unix"
)

// What package syscall tells the runtime around its own forks, and other programs that fork without it do, too: see the
// comments of these functions in the runtime.

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

//go:linkname afterForkInChild syscall.runtime_AfterForkInChild
func afterForkInChild()

// From here on, everything is also done by the child, whose threads but one are gone: no memory is asked for, no lock taken, and
// no stack grows. The race detector, which knows nothing of the fork, has no part in it. What
// a child writes is its own.

// fork forks. It returns in the parent.
//
//go:noinline
//go:norace
func fork(p *plan) (pid int, errno syscall.Errno) {
	var id uintptr
	beforeFork()
	if p.cloneSize > 0 {
		id, _, errno = syscall.RawSyscall6(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&p.clone)), p.cloneSize, 0, 0, 0, 0)
	} else {
		id, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(p.clone.flags|p.clone.exitSignal), 0, 0, 0, 0, 0)
	}
	if errno != 0 || id != 0 {
		afterFork()
		return int(id), errno
	}
	afterForkInChild()
	first(p)
	return 0, 0 // first does not return
}

// first is the first process of the namespaces.
//
//go:nosplit
//go:norace
func first(p *plan) {
	var word int32
	// The signal comes when the parent's thread ends; one that has ended already leaves the gate closed, unless
	// the end that opens it is held here.
	syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	syscall.RawSyscall6(unix.SYS_CLOSE, p.opener, 0, 0, 0, 0, 0)
	if !run(p, p.build, 0) {
		fail(p)
	}
	n, _, _ := syscall.RawSyscall6(unix.SYS_READ, p.gate, uintptr(unsafe.Pointer(&word)), 1, 0, 0, 0)
	if n != 1 {
		exit(failed)
	}
	program, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		p.failure[0], p.failure[1] = int32(len(p.build)), int32(errno)
		fail(p)
	}
	if program == 0 {
		run(p, p.enter, len(p.build)+1) // the last of its calls becomes the program, or one has failed
		fail(p)
	}
	// The program's output ends with the program, and so does what is reported.
	syscall.RawSyscall6(unix.SYS_CLOSE_RANGE, 0, math.MaxUint32, 0, 0, 0, 0)
	for {
		pid, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, ^uintptr(0), uintptr(unsafe.Pointer(&word)), unix.WALL, 0, 0, 0)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			exit(failed)
		case pid == program && word&0x7f == 0:
			exit(uintptr(word>>8) & 0xff)
		case pid == program:
			exit(128 + uintptr(word&0x7f))
		}
	}
}

// run makes calls, and reports whether it made all of them; else the failure is noted. before is how many there
// were before them.
//
//go:nosplit
//go:norace
func run(p *plan, calls []call, before int) bool {
	for i := range calls {
		c := &calls[i]
		p.args = c.args
		for j := range c.from {
			if r := c.from[j] % registers; r != 0 {
				p.args[j] = p.held[r]
			}
		}
		result, _, errno := syscall.RawSyscall6(c.nr, p.args[0], p.args[1], p.args[2], p.args[3], p.args[4], p.args[5])
		if errno != 0 && errno != c.passes || errno == 0 && c.want != 0 && result != c.want {
			p.failure[0], p.failure[1] = int32(before+i), int32(errno)
			return false
		}
		p.held[c.into%registers] = result
	}
	return true
}

// fail reports the failure that is noted, and ends.
//
//go:nosplit
//go:norace
func fail(p *plan) {
	syscall.RawSyscall6(unix.SYS_WRITE, p.report, uintptr(unsafe.Pointer(&p.failure)), unsafe.Sizeof(p.failure), 0, 0, 0)
	exit(failed)
}

//go:nosplit
//go:norace
func exit(code uintptr) {
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, code, 0, 0, 0, 0, 0)
	}
}

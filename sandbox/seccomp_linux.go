package sandbox

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confinement says what stands around a filter of system calls.
type confinement int

const (
	apart      confinement = iota // namespaces of its own
	landlocked                    // the namespaces of the agent
)

// offsets in the kernel's struct seccomp_data, of little-endian machines.
const (
	dataNr   = 0
	dataArch = 4
	dataArgs = 16
)

// x32Bit marks the system calls of another interface of x86-64.
const x32Bit = 0x40000000

// auditArch is the kernel's number of this machine; 0 where we have no filter.
func auditArch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// filter is the one of a command with a view of its own; a program of the user's has none.
func (p *Policy) filter() []unix.SockFilter {
	if p.Outside {
		return nil
	}
	return seccompFilter(apart, p)
}

// seccompFilter returns the program that refuses what no command of a tool needs
// and what leads around the sandbox: other processes' memory, mounts and namespaces,
// keys of the kernel, ways past the filter itself, the machine's state, and text
// put into a terminal. Sockets are the ones that the confinement can hold. It is nil
// on machines whose system calls we have no numbers of.
func seccompFilter(c confinement, p *Policy) []unix.SockFilter {
	arch := auditArch()
	if arch == 0 {
		return nil
	}
	var f filter
	f.load(dataArch)
	f.jump(unix.BPF_JEQ, arch, 1, 0)
	f.fail(unix.EPERM)
	f.load(dataNr)
	if arch == unix.AUDIT_ARCH_X86_64 {
		f.jump(unix.BPF_JGE, x32Bit, 0, 1)
		f.fail(unix.EPERM)
	}
	for _, nr := range refused() {
		f.jump(unix.BPF_JEQ, nr, 0, 1)
		f.fail(unix.EPERM)
	}
	// Its flags lie in memory, where a filter cannot look; programs fall back on clone.
	f.jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1)
	f.fail(unix.ENOSYS)
	const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	f.onCall(unix.SYS_CLONE, 0, func(f *filter) {
		f.jump(unix.BPF_JSET, namespaces, 0, 1)
		f.fail(unix.EPERM)
	})
	const tioclinux = 0x541c
	f.onCall(unix.SYS_IOCTL, 1, func(f *filter) { f.failOn(unix.TIOCSTI, tioclinux) })
	f.onCall(unix.SYS_PTRACE, 0, func(f *filter) {
		if c == landlocked {
			// How the helper sets limits (launch): it traces its own child for a moment.
			f.passOn(unix.PTRACE_TRACEME, unix.PTRACE_DETACH)
		}
		f.fail(unix.EPERM)
	})
	f.onCall(unix.SYS_SOCKET, 0, func(f *filter) {
		f.passOn(families(c, p)...)
		f.fail(unix.EPERM)
	})
	if p.Reading {
		f.readOnly()
	}
	f.ret(unix.SECCOMP_RET_ALLOW)
	return f.code
}

// refused are the system calls that fail whatever their arguments are.
func refused() []uint32 {
	return append([]uint32{
		unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
		unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
		unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_BY_HANDLE_AT,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	}, refusedHere[:]...)
}

// families are the kinds of sockets that may be made. Bubblewrap gives a command a
// network of its own, so that a server under test can be reached; one that was granted
// the network shares the names of local sockets without a path, a desktop's among them.
// Landlock does not keep a command from sockets of services that have a path, nor from
// datagrams.
// A command that only reads has no local ones, for a server of the project would act for it.
// Pairs of sockets are always there.
func families(c confinement, p *Policy) []uint32 {
	switch {
	case c == apart && !p.Network && !p.Reading:
		return []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	case p.Network:
		return []uint32{unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	}
	return nil
}

// filter is a program for the kernel's packet filter. The number of the system call
// is in the register between its parts.
type filter struct{ code []unix.SockFilter }

func (f *filter) add(code uint16, k uint32, jt, jf uint8) {
	f.code = append(f.code, unix.SockFilter{Code: code, Jt: jt, Jf: jf, K: k})
}

func (f *filter) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (f *filter) jump(test uint16, k uint32, yes, no uint8) {
	f.add(unix.BPF_JMP|test|unix.BPF_K, k, yes, no)
}

func (f *filter) ret(action uint32) { f.add(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

func (f *filter) fail(errno unix.Errno) { f.ret(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

// failOn refuses the values of the argument that is loaded; passOn lets them through.
func (f *filter) failOn(values ...uint32) {
	for _, v := range values {
		f.jump(unix.BPF_JEQ, v, 0, 1)
		f.fail(unix.EPERM)
	}
}

func (f *filter) passOn(values ...uint32) {
	for _, v := range values {
		f.jump(unix.BPF_JEQ, v, 0, 1)
		f.ret(unix.SECCOMP_RET_ALLOW)
	}
}

// onCall has a part look at the low half of one argument of a system call. The
// kernel, too, takes no more than that half of the ones that we look at, but for
// clone's flags, of which the upper half says nothing that we refuse.
func (f *filter) onCall(nr uint32, arg int, body func(*filter)) {
	var part filter
	part.load(dataArgs + 8*uint32(arg))
	body(&part)
	part.load(dataNr)
	f.jump(unix.BPF_JEQ, nr, 0, uint8(len(part.code)))
	f.code = append(f.code, part.code...)
}

func filterBytes(filter []unix.SockFilter) []byte {
	var b []byte
	for _, in := range filter {
		b = binary.NativeEndian.AppendUint16(b, in.Code)
		b = append(b, in.Jt, in.Jf)
		b = binary.NativeEndian.AppendUint32(b, in.K)
	}
	return b
}

// enterFilter puts a filter on the calling thread, which can gain no rights any more.
func enterFilter(filter []unix.SockFilter) error {
	if len(filter) == 0 {
		return nil
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog))); errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}

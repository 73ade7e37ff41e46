package shelltrace

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// call is a system call as it begins.
type call struct {
	nr   uint64
	args [6]uint64
	path string // of a call that names one
}

// The calls that are looked at: the names of the first three say where a call that changes a file has
// its path: behind a directory (At), as its first argument (Path), or nowhere, for the file is open (Open).
var (
	changingAt = []uint64{
		unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT,
		unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT, unix.SYS_FUTIMESAT,
	}
	changingPath = []uint64{
		unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT, unix.SYS_MKNOD, unix.SYS_CHMOD,
		unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_TRUNCATE, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_SETXATTR, unix.SYS_LSETXATTR,
	}
	changingOpen = []uint64{unix.SYS_FCHMOD, unix.SYS_FCHOWN, unix.SYS_FTRUNCATE, unix.SYS_FSETXATTR, unix.SYS_FALLOCATE}
	opening      = []uint64{unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_OPENAT, unix.SYS_OPENAT2}
	reaching     = []uint64{
		unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_PTRACE, unix.SYS_MOUNT, unix.SYS_IO_URING_SETUP,
	}
	starting = []uint64{unix.SYS_EXECVE, unix.SYS_EXECVEAT}
)

// filter is the seccomp program that stops at all of these calls and lets all others
// pass. A call of another architecture ends the process: the tracer would misread it.
func filter() []byte {
	var list []uint64
	for _, calls := range [][]uint64{changingAt, changingPath, changingOpen, opening, reaching, starting} {
		list = append(list, calls...)
	}
	const load, jumpEqual, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	var program []byte
	add := func(code uint16, yes, no uint8, k uint32) {
		program = binary.NativeEndian.AppendUint16(program, code)
		program = append(program, yes, no)
		program = binary.NativeEndian.AppendUint32(program, k)
	}
	add(load, 0, 0, 4) // the architecture
	add(jumpEqual, 1, 0, unix.AUDIT_ARCH_X86_64)
	add(ret, 0, 0, unix.SECCOMP_RET_KILL_PROCESS)
	add(load, 0, 0, 0) // the number of the call
	for i, nr := range list {
		add(jumpEqual, uint8(len(list)-i), 0, uint32(nr))
	}
	add(ret, 0, 0, unix.SECCOMP_RET_ALLOW)
	add(ret, 0, 0, unix.SECCOMP_RET_TRACE)
	return program
}

// openFlags returns the flags of a call that opens a file.
func openFlags(c call) (flags uint64, ok bool) {
	switch c.nr {
	case unix.SYS_OPENAT:
		return c.args[2], true
	case unix.SYS_OPEN:
		return c.args[1], true
	case unix.SYS_CREAT, unix.SYS_OPENAT2: // the flags of openat2 are not looked into
		return unix.O_WRONLY | unix.O_CREAT, true
	}
	return 0, false
}

package sandbox

import "golang.org/x/sys/unix"

// changing are system calls that change a file, or what other processes share, without
// opening anything for writing. Mounts that are read-only refuse changes of files anyway;
// Landlock has no right for them.
var changing = [...]uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	unix.SYS_TRUNCATE,
	unix.SYS_SHMGET, unix.SYS_SEMGET, unix.SYS_MSGGET, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// Requests by which the owner of a file changes its flags: FS_IOC_SETFLAGS of both
// sizes, FS_IOC_FSSETXATTR.
const (
	setFlags   = 0x40086602
	setFlags32 = 0x40046602
	setXFlags  = 0x401c5820
)

// readOnly refuses what changes a file that cannot be written. Kernels before version 3
// of Landlock let a file be cut that is opened for reading.
func (f *filter) readOnly() {
	for _, nr := range append(changing[:], changingHere[:]...) {
		f.jump(unix.BPF_JEQ, nr, 0, 1)
		f.fail(unix.EROFS)
	}
	f.onCall(unix.SYS_IOCTL, 1, func(f *filter) { f.failOn(setFlags, setFlags32, setXFlags) })
	f.onCall(unix.SYS_OPENAT, 2, cutting)
	openHere(f)
	// Its flags lie in memory, where a filter cannot look; programs fall back on openat.
	f.jump(unix.BPF_JEQ, unix.SYS_OPENAT2, 0, 1)
	f.fail(unix.ENOSYS)
}

// cutting refuses flags that open a file for reading and cut it.
func cutting(f *filter) {
	f.jump(unix.BPF_JSET, unix.O_WRONLY|unix.O_RDWR, 2, 0)
	f.jump(unix.BPF_JSET, unix.O_TRUNC, 0, 1)
	f.fail(unix.EROFS)
}

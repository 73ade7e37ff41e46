package main

import "golang.org/x/sys/unix"

// openedOld returns the flags of the calls that open files and that newer systems lack.
func openedOld(c syscalls) (flags uint64, ok bool) {
	switch c.nr {
	case unix.SYS_OPEN:
		return c.args[1], true
	case unix.SYS_CREAT:
		return unix.O_WRONLY | unix.O_CREAT, true
	}
	return 0, false
}

// changing reports a call that changes what is on the disk.
func changing(nr uint64) bool {
	switch nr {
	case unix.SYS_MKDIR, unix.SYS_MKDIRAT, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
		unix.SYS_LINK, unix.SYS_LINKAT, unix.SYS_SYMLINK, unix.SYS_SYMLINKAT, unix.SYS_MKNOD, unix.SYS_MKNODAT, unix.SYS_CHMOD, unix.SYS_FCHMOD, unix.SYS_FCHMODAT,
		unix.SYS_CHOWN, unix.SYS_FCHOWN, unix.SYS_LCHOWN, unix.SYS_FCHOWNAT, unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE, unix.SYS_UTIME, unix.SYS_UTIMES,
		unix.SYS_UTIMENSAT, unix.SYS_FUTIMESAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_FALLOCATE:
		return true
	}
	return false
}

// pathArguments says which arguments of a call are a directory and a path.
func pathArguments(c syscalls) (at int, path uint64, ok bool) {
	switch c.nr {
	case unix.SYS_OPENAT, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_MKNODAT, unix.SYS_FCHMODAT, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT:
		return int(int32(c.args[0])), c.args[1], true
	case unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_MKNOD,
		unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_TRUNCATE, unix.SYS_SETXATTR:
		return unix.AT_FDCWD, c.args[0], true
	}
	return 0, 0, false
}

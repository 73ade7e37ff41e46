package workspace

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// isKernelType reports whether a file system of that type holds files of the kernel.
func isKernelType(kind int64) bool {
	return slices.Contains([]int64{
		unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.DEBUGFS_MAGIC,
		unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC, unix.SMACK_MAGIC, unix.DEVPTS_SUPER_MAGIC,
		unix.BPF_FS_MAGIC, unix.PSTOREFS_MAGIC, unix.EFIVARFS_MAGIC, unix.BINFMTFS_MAGIC, unix.NSFS_MAGIC,
		unix.SOCKFS_MAGIC, unix.PIPEFS_MAGIC,
	}, kind&0xffffffff)
}

// isKernelPath asks the file system of an existing path. It opens nothing.
func isKernelPath(path string) bool {
	var stat unix.Statfs_t
	return unix.Statfs(path, &stat) == nil && isKernelType(int64(stat.Type))
}

// isKernelFile asks the file system of an open file.
func isKernelFile(f *os.File) bool {
	var stat unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &stat) == nil && isKernelType(int64(stat.Type))
}

//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives a file the owner of the one it replaces, as far as we may.
func keepOwner(f *os.File, old fs.FileInfo) {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if int(was.Uid) == os.Geteuid() && int(was.Gid) == os.Getegid() {
		return
	}
	if f.Chown(int(was.Uid), int(was.Gid)) != nil {
		_ = f.Chown(-1, int(was.Gid)) // a group of ours may be kept alone
	}
}

// sameGroup reports whether a file got the group of the one it replaces: the
// setgid bit of one group is not to be given to another.
func sameGroup(f *os.File, old fs.FileInfo) bool {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	now, err := f.Stat()
	if err != nil {
		return false
	}
	is, ok := now.Sys().(*syscall.Stat_t)
	return ok && is.Gid == was.Gid
}

// hasOtherNames reports whether a file has other names.
func hasOtherNames(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}

// syncDir makes a rename in a directory durable.
func syncDir(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

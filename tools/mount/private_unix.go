//go:build unix

package mount

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkPrivate refuses a file or directory that another user owns or may change
// (B1), and says what to do about it.
func checkPrivate(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return fmt.Errorf("%s: its owner is not known", path)
	case int(stat.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another user; make a copy of your own and look at what it does", path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be changed by other users; run: chmod go-w %q", path, path)
	}
	return nil
}

// isExecutable reports a file that some user may execute; checkRunnable says whether the
// agent may.
func isExecutable(_ string, info fs.FileInfo) bool { return info.Mode().Perm()&0o111 != 0 }

// checkRunnable refuses a file that cannot be executed.
func checkRunnable(path string, info fs.FileInfo) error {
	if info.Mode().Perm()&0o100 == 0 {
		return fmt.Errorf("%s is not executable; run: chmod u+x %q", path, path)
	}
	return nil
}

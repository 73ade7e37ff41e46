package rootfile

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed is when a file last changed, by the time that no program can set.
func Changed(info fs.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctimespec.Unix())
	}
	return info.ModTime()
}

package resultcache

import (
	"io/fs"
	"time"
)

// Stamp is the state of a file or directory, as far as its metadata tell.
// Inode, Device and ChangeTime are 0 where the system has none.
type Stamp struct {
	Size          int64
	ModTime       int64 // ns since 1970
	ChangeTime    int64 // ns since 1970, when the metadata changed last
	Mode          fs.FileMode
	Inode, Device uint64
}

// Stat tells the state of what an absolute path leads to, links followed. It
// may be called from several goroutines.
type Stat func(path string) (Stamp, error)

// StampOf makes a Stamp of what os.Stat returned.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), ModTime: info.ModTime().UnixNano(), Mode: info.Mode()}
	s.identify(info.Sys())
	return s
}

// changedBefore reports whether the last change happened before t.
func (s Stamp) changedBefore(t time.Time) bool {
	return max(s.ModTime, s.ChangeTime) < t.UnixNano()
}

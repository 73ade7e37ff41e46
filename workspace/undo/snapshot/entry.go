package snapshot

import (
	"crypto/sha256"
	"io/fs"
	"time"

	"acp-agent/internal/rootfile"
)

// Entry is what stands under one name: a file, a link, a directory, or something else that is
// only known to be there.
type Entry struct {
	// Mode holds the type and the permissions.
	Mode fs.FileMode
	// Size, Time, Changed and Inode tell one state of a file from another.
	Size          int64
	Time, Changed int64 // nanoseconds since 1970
	Inode         uint64
	// Target is where a link leads.
	Target string
	// Sum is the SHA-256 of a file's bytes. It and the copy are there when Lack is "".
	Sum  [sha256.Size]byte
	Lack Lack

	at   int64 // where the copy stands
	read int64 // when it was made
}

// Lack says why there is no copy of a file; "" says that there is one.
type Lack string

// The reasons.
const (
	TooLarge   Lack = "it is larger than what is copied of one file"
	TooMuch    Lack = "the files of the directory are larger, together, than what is copied"
	TooLate    Lack = "there was no time to copy it"
	Secret     Lack = "it may hold secrets, which are not copied"
	Unreadable Lack = "it could not be read"
	NotCopied  Lack = "its copy could not be written"
)

// IsFile, IsDir and IsLink tell the forms that are kept and put back.
func (e *Entry) IsFile() bool { return e != nil && e.Mode.IsRegular() }

// IsDir reports whether it is a directory.
func (e *Entry) IsDir() bool { return e != nil && e.Mode.IsDir() }

// IsLink reports whether it is a symbolic link.
func (e *Entry) IsLink() bool { return e != nil && e.Mode&fs.ModeSymlink != 0 }

func newEntry(info fs.FileInfo) *Entry {
	return &Entry{
		Mode: info.Mode(), Size: info.Size(), Time: info.ModTime().UnixNano(),
		Changed: rootfile.Changed(info).UnixNano(), Inode: rootfile.Inode(info),
	}
}

// isAsBefore reports whether two looks saw one state of a name, as far as what the file system
// says of it tells.
func (e *Entry) isAsBefore(before *Entry) bool {
	return e.Mode == before.Mode && e.Size == before.Size && e.Time == before.Time &&
		e.Changed == before.Changed && e.Inode == before.Inode
}

// The shortest time between a change and a copy after which another change cannot bear the
// same time: that of a file system that counts in fractions of a second, and in whole ones.
const (
	fineTick   = 100 * time.Millisecond
	coarseTick = 2 * time.Second
)

// isSettled reports whether a change after the copy shows in the entry.
func (e *Entry) isSettled() bool {
	tick := fineTick
	if e.Changed%int64(time.Second) == 0 {
		tick = coarseTick
	}
	return e.read-e.Changed > int64(tick)
}

// isToBeRead reports whether a look is to read the file again, though nothing of it has changed.
func (e *Entry) isToBeRead() bool {
	switch e.Lack {
	case "":
		return e.IsFile() && !e.isSettled()
	case TooLate, TooMuch, NotCopied:
		return true
	}
	return false
}

// same reports whether two entries stand for the same: bytes or target, and mode. Of directories
// the mode counts, and of what has no copy that nothing says otherwise.
func (e *Entry) same(other *Entry) bool {
	switch {
	case e == nil || other == nil:
		return e == other
	case e.Mode != other.Mode:
		return false
	case e.IsDir():
		return true
	case e.IsLink():
		return e.Target == other.Target
	case e.IsFile() && e.Lack == "" && other.Lack == "":
		return e.Sum == other.Sum && e.Size == other.Size
	}
	return e.isAsBefore(other)
}

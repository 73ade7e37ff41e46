package search

import (
	"bytes"
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

// Layout of linux_dirent64: inode (8 bytes), offset (8), record length (2),
// type (1), then the name, ended by NUL.
const (
	direntLenAt  = 16
	direntTypeAt = 18
	direntNameAt = 19
)

// ReadDir reads the names with getdents64 directly: the types come along, and
// no entry needs a system call of its own.
func (d *rawDir) ReadDir() ([]fs.DirEntry, error) {
	buf := make([]byte, 32<<10) // small enough to stay on the stack
	if _, err := unix.Seek(d.fd, 0, unix.SEEK_SET); err != nil {
		return nil, &fs.PathError{Op: "readdir", Err: err}
	}
	var entries []fs.DirEntry
	var block []rawEntry
	for {
		n, err := unix.Getdents(d.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return entries, &fs.PathError{Op: "readdir", Err: err}
		}
		if n <= 0 {
			return entries, nil
		}
		entries, block = d.appendEntries(entries, block, buf[:n])
		if len(entries) >= maxDirEntries {
			return entries, ErrDirTooBig
		}
	}
}

// appendEntries takes the records in buf. Entries are cut from block, so that
// they cost one allocation in many.
func (d *rawDir) appendEntries(entries []fs.DirEntry, block []rawEntry, buf []byte) ([]fs.DirEntry, []rawEntry) {
	for len(buf) > direntNameAt {
		size := int(binary.NativeEndian.Uint16(buf[direntLenAt:]))
		if size <= direntNameAt || size > len(buf) {
			break
		}
		name := buf[direntNameAt:size]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		kind := buf[direntTypeAt]
		buf = buf[size:]
		if string(name) == "." || string(name) == ".." {
			continue
		}
		if len(block) == cap(block) {
			block = make([]rawEntry, 0, min(max(16, 2*cap(block)), 1024))
		}
		s := string(name)
		block = append(block, rawEntry{dir: d, name: s, mode: d.mode(s, kind)})
		entries = append(entries, &block[len(block)-1])
	}
	return entries, block
}

// mode turns a directory entry's type into mode bits, asking the file system
// only where the listing does not tell.
func (d *rawDir) mode(name string, kind byte) fs.FileMode {
	switch kind {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_UNKNOWN:
		var st unix.Stat_t
		if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return fs.ModeIrregular
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			return 0
		case unix.S_IFDIR:
			return fs.ModeDir
		case unix.S_IFLNK:
			return fs.ModeSymlink
		}
	}
	return fs.ModeIrregular
}

type rawEntry struct {
	dir  *rawDir
	name string
	mode fs.FileMode
}

func (e *rawEntry) Name() string      { return e.name }
func (e *rawEntry) IsDir() bool       { return e.mode.IsDir() }
func (e *rawEntry) Type() fs.FileMode { return e.mode }

// Info opens the file: the engine never asks, others may. The directory must
// still be open.
func (e *rawEntry) Info() (fs.FileInfo, error) {
	f, err := e.dir.Open(e.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

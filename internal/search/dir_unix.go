//go:build unix

package search

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

func isSeparator(byte) bool { return false }

// FromRoot opens the directory that root confines. The Dir has a handle of its
// own: closing either leaves the other open.
func FromRoot(root *os.Root) (Dir, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	d := &rawDir{fd: -1}
	var dupErr error
	err = conn.Control(func(fd uintptr) {
		d.fd, dupErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	})
	if err = errors.Join(err, dupErr); err != nil {
		return nil, fmt.Errorf("open %q: %w", root.Name(), err)
	}
	return d, nil
}

// rawDir works on the descriptor itself: single names with O_NOFOLLOW cannot
// leave the directory, and it saves the system calls that os.File spends on
// each of many thousand files.
type rawDir struct {
	fd int
}

func (d *rawDir) Open(name string) (File, error) {
	if !singleElement(name) {
		return nil, fmt.Errorf("open %q: not a single path element", name)
	}
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY|unix.O_CLOEXEC)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	f := &rawFile{fd: fd, name: name}
	if err := unix.Fstat(fd, &f.stat); err != nil {
		return nil, errors.Join(&fs.PathError{Op: "stat", Path: name, Err: err}, f.Close())
	}
	if f.stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.Join(fmt.Errorf("open %q: %w", name, ErrNotRegular), f.Close())
	}
	return f, nil
}

func (d *rawDir) Sub(name string) (Dir, error) {
	if !singleElement(name) {
		return nil, fmt.Errorf("open %q: not a single path element", name)
	}
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return &rawDir{fd: fd}, nil
}

func (d *rawDir) Close() error { return unix.Close(d.fd) }

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// rawFile reads a regular file by descriptor. It ends at the size that fstat
// gave, which saves the last, empty read of every file.
type rawFile struct {
	fd   int
	read int64
	name string
	stat unix.Stat_t
}

func (f *rawFile) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := unix.Read(f.fd, p)
	for err == unix.EINTR {
		n, err = unix.Read(f.fd, p)
	}
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	f.read += int64(n)
	// Files of kernel file systems claim size 0 and have content all the same.
	if n == 0 || f.stat.Size > 0 && f.read >= f.stat.Size {
		return n, io.EOF
	}
	return n, nil
}

func (f *rawFile) Close() error {
	err := unix.Close(f.fd)
	f.fd = -1
	return err
}

func (f *rawFile) Stat() (fs.FileInfo, error) {
	return rawInfo{
		name:  f.name,
		size:  f.stat.Size,
		mode:  fs.FileMode(f.stat.Mode & 0o777),
		mtime: time.Unix(f.stat.Mtim.Unix()),
	}, nil
}

type rawInfo struct {
	name  string
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

func (i rawInfo) Name() string       { return i.name }
func (i rawInfo) Size() int64        { return i.size }
func (i rawInfo) Mode() fs.FileMode  { return i.mode }
func (i rawInfo) ModTime() time.Time { return i.mtime }
func (i rawInfo) IsDir() bool        { return false }
func (i rawInfo) Sys() any           { return nil }

package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"acp-agent/internal/pathname"
	"acp-agent/internal/rootfile"
	"acp-agent/kinds"
)

// opener opens files that others laid out (P3, P6).
type opener struct{ secret func(path string) bool }

// opened is an open regular file or directory.
type opened struct {
	*os.File
	info fs.FileInfo
	// real is its path without links.
	real string
}

// open opens a regular file or a directory. Links are followed as far as base,
// which is resolved, allows; "" allows all. Pipes and devices are refused
// without opening them, and never block. Nothing there is fs.ErrNotExist.
func (o opener) open(name, base string) (*opened, error) {
	if _, err := os.Lstat(name); err != nil {
		if errors.Is(err, syscall.ENOTDIR) {
			return nil, fs.ErrNotExist
		}
		return nil, cause(err)
	}
	if o.isSecret(name) {
		return nil, errors.New("is not read: its name is that of a secret")
	}
	real, err := filepath.EvalSymlinks(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("is a link that leads nowhere")
	case err != nil:
		return nil, cause(err)
	case base != "" && !pathname.Contains(base, real):
		return nil, fmt.Errorf("is a link that leads out of %s", base)
	case o.isSecret(real):
		return nil, errors.New("is a link to a secret")
	}
	before, err := os.Lstat(real)
	if err != nil {
		return nil, cause(err)
	}
	if !before.Mode().IsRegular() && !before.IsDir() {
		return nil, errors.New("is no regular file")
	}
	file, err := openResolved(real, base)
	if err != nil {
		return nil, cause(err)
	}
	after, err := file.Stat()
	if err == nil && !os.SameFile(before, after) {
		err = errors.New("changed while it was being opened")
	}
	if err != nil {
		return nil, errors.Join(cause(err), file.Close())
	}
	return &opened{file, after, real}, nil
}

func (o opener) isSecret(path string) bool { return o.secret != nil && o.secret(path) }

// openResolved opens through a handle of base, so that a directory which turns
// into a link meanwhile leads nowhere.
func openResolved(real, base string) (*os.File, error) {
	const flags = os.O_RDONLY | rootfile.Nonblock
	if base == "" {
		return os.OpenFile(real, flags, 0)
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(base, real)
	if err != nil {
		return nil, err
	}
	return root.OpenFile(rel, flags, 0)
}

// openRegular is open for files alone.
func (o opener) openRegular(name, base string) (*opened, error) {
	file, err := o.open(name, base)
	if err != nil {
		return nil, err
	}
	if file.info.IsDir() {
		return nil, errors.Join(errors.New("is a directory"), file.Close())
	}
	return file, nil
}

// head reads the first limit bytes.
func (f *opened) head(limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit))
	return data, cause(err)
}

// tail reads the last limit bytes, from the beginning of a line on; cut says
// that there are others before.
func (f *opened) tail(limit int64) (data []byte, cut bool, err error) {
	from := max(0, f.info.Size()-limit)
	data, err = io.ReadAll(io.NewSectionReader(f, from, limit))
	if err != nil || from == 0 {
		return data, false, cause(err)
	}
	if _, rest, ok := bytes.Cut(data, []byte{'\n'}); ok {
		data = rest
	}
	return data, true, nil
}

// cause is err without the path, which the caller names.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// readable is foreign text as a user would see it (I3): without byte order
// mark, with LF alone, and what is invisible or invalid escaped.
func readable(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	return kinds.Visible(strings.ReplaceAll(string(data), "\r\n", "\n"))
}

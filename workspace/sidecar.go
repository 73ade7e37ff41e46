package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// sidecar is a file for the whole of a result that is returned cut.
type sidecar struct {
	quota *atomic.Int64
	path  string

	mu      sync.Mutex
	file    *os.File
	dropped int64
}

// isFileName reports whether a tool's name can be a part of a file's.
func isFileName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Sidecar opens a file in the session's directory (R105, R107). Its name is
// the tool's and an id; nothing that exists is ever opened.
func (c *Call) Sidecar() (tools.Sidecar, error) {
	tool := c.tool
	if !isFileName(tool) {
		tool = "tool"
	}
	return c.w.newSidecar(tool)
}

func (s *shared) newSidecar(tool string) (tools.Sidecar, error) {
	p := s.paths.private
	if err := p.Create(); err != nil {
		return nil, failure("create sidecar in", p.Path(), err)
	}
	name := tool + "-output-" + s.o.IDs.New(transcript.PartPrefix)
	path := filepath.Join(p.Path(), name)
	own, _ := p.Handles()
	if own == nil {
		return nil, endedError(path)
	}
	f, err := own.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, failure("create", path, err)
	}
	return &sidecar{quota: &s.quota, path: path, file: f}, nil
}

// OpenSidecar opens a sidecar of this session, of size bytes, to keep a copy of it.
func (w *Workspace) OpenSidecar(path string) (content io.ReadCloser, size int64, err error) {
	own, _ := w.private.Handles()
	if own == nil || !w.isSidecar(path) {
		return nil, 0, fmt.Errorf("%s is no sidecar of this session", path)
	}
	file, err := own.Open(filepath.Base(path))
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

func (w *Workspace) isSidecar(path string) bool {
	return filepath.Dir(path) == w.private.Path() && strings.Contains(filepath.Base(path), "-output-")
}

// RestoreSidecar writes a sidecar that a result of a stored session names, below the directory
// that the session had and has again (R107). What is there already stays.
func (w *Workspace) RestoreSidecar(path string, content io.Reader) error {
	p, name := w.private, filepath.Base(path)
	if !w.isSidecar(path) {
		return fmt.Errorf("%s is no sidecar of this session", path)
	}
	if err := p.Create(); err != nil {
		return failure("create sidecar in", p.Path(), err)
	}
	own, _ := p.Handles()
	if own == nil {
		return endedError(path)
	}
	f, err := own.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return failure("create", path, err)
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// Path returns the file's absolute path.
func (s *sidecar) Path() string { return s.path }

// Dropped is the number of bytes that the quota, or a full disk, refused.
func (s *sidecar) Dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Write stores what the session's quota still allows. It takes everything and
// counts what it drops, so that a command's pipe is drained to its end (X5).
func (s *sidecar) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return 0, os.ErrClosed
	}
	granted := 0
	if s.dropped == 0 { // a hole in the middle would mislead
		granted = reserve(s.quota, len(b))
	}
	written, err := s.file.Write(b[:granted])
	if err != nil {
		s.quota.Add(int64(granted - written))
	}
	s.dropped += int64(len(b) - written)
	return len(b), nil
}

// reserve reserves up to n bytes of a quota.
func reserve(quota *atomic.Int64, n int) int {
	for {
		left := quota.Load()
		granted := max(0, min(int64(n), left))
		if quota.CompareAndSwap(left, left-granted) {
			return int(granted)
		}
	}
}

// Close closes the file.
func (s *sidecar) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}

package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"
	"os"
	"strings"
	"sync"
)

// packName is the file, in the private directory, that holds the copies one after the other.
const packName = "tree"

// pack is the copies. It goes with the session's private directory, and is not synced.
type pack struct {
	dir func() (*os.Root, error)

	mu     sync.Mutex
	file   *os.File
	buffer *bufio.Writer
	size   int64
	err    error // why nothing more can be written
}

// add copies a file of at most Bounds.FileBytes and notes in e where the copy stands.
func (p *pack) add(f io.Reader, e *Entry, bounds Bounds) Lack {
	var content bytes.Buffer
	content.Grow(int(min(e.Size, bounds.FileBytes)) + 1)
	if _, err := io.Copy(&content, io.LimitReader(f, bounds.FileBytes+1)); err != nil {
		return Unreadable
	}
	if int64(content.Len()) > bounds.FileBytes {
		return TooLarge // it grew
	}
	e.Size, e.Sum = int64(content.Len()), sha256.Sum256(content.Bytes())
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size+e.Size > bounds.Bytes {
		return TooMuch
	}
	if p.open() != nil {
		return NotCopied
	}
	if _, p.err = p.buffer.Write(content.Bytes()); p.err != nil {
		return NotCopied
	}
	e.at = p.size
	p.size += e.Size
	return ""
}

// open opens the file on its first use. The caller holds mu.
func (p *pack) open() error {
	if p.file != nil || p.err != nil {
		return p.err
	}
	dir, err := p.dir()
	if err == nil {
		p.file, err = dir.OpenFile(packName, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	}
	if p.err = err; err == nil {
		p.buffer = bufio.NewWriterSize(p.file, 1<<20)
	}
	return err
}

func (p *pack) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buffer != nil && p.err == nil {
		p.err = p.buffer.Flush()
	}
}

// reader reads a copy.
func (p *pack) reader(e *Entry) io.Reader {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return strings.NewReader("")
	}
	return io.NewSectionReader(p.file, e.at, e.Size)
}

// trim begins the file anew once half of a full one is of no use any more, or after a fault:
// the next look then copies all of it again.
func (p *pack) trim(w *walk, limit int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil && p.size <= limit/2 {
		return
	}
	var live int64
	for _, entries := range w.dirs {
		for _, e := range entries {
			if e.IsFile() && e.Lack == "" {
				live += e.Size
			}
		}
	}
	if p.err == nil && live > p.size/2 {
		return
	}
	for _, entries := range w.dirs {
		for _, e := range entries {
			if e.IsFile() && e.Lack == "" {
				e.Lack = TooLate
			}
		}
	}
	_ = p.drop()
}

// drop closes the file. The caller holds mu.
func (p *pack) drop() (err error) {
	if p.file != nil {
		err = p.file.Close()
	}
	p.file, p.buffer, p.size, p.err = nil, nil, 0, nil
	return err
}

// Close closes the file with the copies; it is removed with its directory.
func (t *Tree) Close() error {
	t.pack.mu.Lock()
	defer t.pack.mu.Unlock()
	return t.pack.drop()
}

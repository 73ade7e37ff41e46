package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
)

// blobs are the pre-images, one file for each content. Files get numbers for
// names; which content one holds is known here alone, and proved on reading.
type blobs struct {
	dir   func() (*os.Root, error)
	fault func(step string) error

	mu   sync.Mutex
	next int
	held map[Content]*blob
	used int64
}

type blob struct {
	name string
	refs int
}

// keep makes the bytes of src durable. Content that is held already is not
// written again.
func (b *blobs) keep(src io.ReadSeeker, c Content) error {
	if c.Size == 0 || b.hold(c) {
		return nil
	}
	name, err := b.write(src, c)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.held[c]; known != nil { // another was faster
		known.refs++
		return b.remove(name)
	}
	b.held[c] = &blob{name: name, refs: 1}
	b.used += c.Size
	return nil
}

// hold takes one more reference to content that is held.
func (b *blobs) hold(c Content) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.held[c]
	if known != nil {
		known.refs++
	}
	return known != nil
}

// write stores bytes in a file of its own. The file is synced, its
// directory is not: after a crash no journal is left to look for it.
func (b *blobs) write(src io.ReadSeeker, c Content) (name string, err error) {
	if err := b.fault("preimage"); err != nil {
		return "", err
	}
	dir, err := b.dir()
	if err != nil {
		return "", err
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	b.mu.Lock()
	b.next++
	name = strconv.Itoa(b.next)
	b.mu.Unlock()
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	err = copyExactly(f, src, c)
	if err == nil {
		err = b.fault("syncimage")
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = dir.Remove(name) // what stays goes with the session
		return "", err
	}
	return name, nil
}

// release gives one reference back. With the last one the file goes.
func (b *blobs) release(c Content) {
	if c.Size == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.held[c]
	if known == nil {
		return
	}
	if known.refs--; known.refs > 0 {
		return
	}
	delete(b.held, c)
	b.used -= c.Size
	_ = b.remove(known.name) // what stays goes with the session
}

func (b *blobs) remove(name string) error {
	dir, err := b.dir()
	if err != nil {
		return err
	}
	return dir.Remove(name)
}

// copyTo writes the bytes that c names, and fails with ErrOther when the file
// holds others.
func (b *blobs) copyTo(w io.Writer, c Content) error {
	if c.Size == 0 {
		return copyExactly(w, bytes.NewReader(nil), c)
	}
	b.mu.Lock()
	var name string
	if known := b.held[c]; known != nil {
		name = known.name
	}
	b.mu.Unlock()
	if name == "" {
		return fmt.Errorf("pre-image: %w", os.ErrNotExist)
	}
	dir, err := b.dir()
	if err != nil {
		return err
	}
	f, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := copyExactly(w, f, c); err != nil {
		return fmt.Errorf("pre-image: %w", err)
	}
	return nil
}

func (b *blobs) size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

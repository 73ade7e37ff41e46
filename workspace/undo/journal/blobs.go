package journal

import (
	"bytes"
	"crypto/sha256"
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
	dir      func() (*os.Root, error)
	contents Contents // nil means dir alone
	fault    func(step string) error

	mu   sync.Mutex
	next int
	held map[Content]*blob
	used int64
}

type blob struct {
	name string
	refs int
	// stored says that the name is one of contents.
	stored bool
}

// keep makes the bytes of src durable. Content that is held already is not
// written again.
func (b *blobs) keep(src io.ReadSeeker, c Content) error {
	if c.Size == 0 || b.hold(c) {
		return nil
	}
	name, stored, err := b.put(src, c)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := &blob{name: name, refs: 1, stored: stored}
	if known := b.held[c]; known != nil { // another was faster
		known.refs++
		return b.remove(fresh)
	}
	b.held[c] = fresh
	if !stored {
		b.used += c.Size
	}
	return nil
}

// put stores bytes where they outlive the journal, or else in the private directory.
func (b *blobs) put(src io.ReadSeeker, c Content) (name string, stored bool, err error) {
	if b.contents != nil {
		if _, err := src.Seek(0, io.SeekStart); err != nil {
			return "", false, err
		}
		same := &exact{r: src, hash: sha256.New()}
		name, err := b.contents.Put(same)
		switch {
		case err == nil && same.is(c):
			return name, true, nil
		case err == nil:
			return "", false, ErrOther
		}
	}
	name, err = b.write(src, c)
	return name, false, err
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
	if !known.stored {
		b.used -= c.Size
	}
	_ = b.remove(known) // what stays goes with the session
}

func (b *blobs) remove(gone *blob) error {
	if gone.stored {
		return nil
	}
	dir, err := b.dir()
	if err != nil {
		return err
	}
	return dir.Remove(gone.name)
}

// stored is the name that Contents has given to bytes.
func (b *blobs) stored(c Content) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.held[c]; known != nil && known.stored {
		return known.name
	}
	return ""
}

// open returns bytes, unchecked.
func (b *blobs) open(c Content) (io.ReadCloser, error) {
	if c.Size == 0 {
		return io.NopCloser(bytes.NewReader(nil)), nil
	}
	b.mu.Lock()
	known := b.held[c]
	b.mu.Unlock()
	if known == nil {
		return nil, fmt.Errorf("pre-image: %w", os.ErrNotExist)
	}
	if known.stored {
		return b.contents.Open(known.name)
	}
	dir, err := b.dir()
	if err != nil {
		return nil, err
	}
	return dir.Open(known.name)
}

// copyTo writes the bytes that c names, and fails with ErrOther when the file
// holds others.
func (b *blobs) copyTo(w io.Writer, c Content) error {
	f, err := b.open(c)
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

package timeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// Contents keeps bytes for as long as the session can be taken back. It is safe for concurrent
// use.
type Contents interface {
	// Put keeps what a reader gives, durably, and names it.
	Put(content io.Reader) (name string, err error)
	// Open returns what a name stands for.
	Open(name string) (io.ReadCloser, error)
}

// Kept says where the bytes of a file are.
type Kept struct {
	Sum  Sum   `json:"sum"`
	Size int64 `json:"size"`
	// Name is the stored content, At where in it the bytes begin.
	Name string `json:"name"`
	At   int64  `json:"at,omitempty"`
}

// Source is bytes that are to be kept.
type Source struct {
	Sum  Sum
	Size int64
	// Open returns them. They may have become others since.
	Open func() (io.ReadCloser, error)
}

// ErrOther reports bytes that are not those they should be.
var ErrOther = errors.New("the bytes are not the expected ones")

// emptySum names no bytes at all, which need no keeping.
const emptySum Sum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// Has reports whether bytes are kept.
func (t *Timeline) Has(sum Sum) bool {
	_, ok := t.Place(sum)
	return ok
}

// Keep keeps the bytes of several files, the files that are not kept yet as one stored content. It
// says where all of them are, so that who refers to them needs no other record.
func (t *Timeline) Keep(sources []Source) (list []Kept, err error) {
	var todo []Source
	var fresh []Kept
	var at int64
	have := map[Sum]bool{}
	for _, s := range sources {
		if have[s.Sum] {
			continue
		}
		have[s.Sum] = true
		if k, ok := t.Place(s.Sum); ok {
			list = append(list, k)
			continue
		}
		todo = append(todo, s)
		fresh = append(fresh, Kept{Sum: s.Sum, Size: s.Size, At: at})
		at += s.Size
	}
	if len(todo) == 0 {
		return list, nil
	}
	reader := &chain{todo: todo}
	defer reader.close()
	name, err := t.o.Contents.Put(reader)
	if err != nil {
		return list, err
	}
	for _, k := range fresh {
		k.Name = name
		list = append(list, k)
	}
	return list, nil
}

// chain reads sources one after the other, and fails when one is not what it should be.
type chain struct {
	todo []Source
	now  io.ReadCloser
	left int64
	sum  interface {
		io.Writer
		Sum(b []byte) []byte
	}
}

// Read implements io.Reader.
func (c *chain) Read(p []byte) (int, error) {
	for {
		if len(c.todo) == 0 {
			return 0, io.EOF
		}
		if c.now == nil {
			r, err := c.todo[0].Open()
			if err != nil {
				return 0, err
			}
			c.now, c.left, c.sum = r, c.todo[0].Size, sha256.New()
		}
		if c.left > 0 {
			n, err := c.now.Read(p[:min(int64(len(p)), c.left)])
			c.left -= int64(n)
			_, _ = c.sum.Write(p[:n])
			if err == io.EOF && c.left > 0 {
				err = ErrOther
			}
			if err != nil && err != io.EOF || n > 0 {
				return n, dropEOF(err)
			}
			continue
		}
		if Sum(hex.EncodeToString(c.sum.Sum(nil))) != c.todo[0].Sum {
			return 0, ErrOther
		}
		c.close()
		c.todo = c.todo[1:]
	}
}

func dropEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func (c *chain) close() {
	if c.now != nil {
		_ = c.now.Close() // it was only read
		c.now = nil
	}
}

// Note notes where bytes are kept.
func (t *Timeline) Note(kept []Kept) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(kept)
}

// Reader reads kept bytes. Files that are asked for in the order in which they were kept are read
// in one pass. It is for one goroutine; Close ends it.
type Reader struct {
	t    *Timeline
	name string
	from io.ReadCloser
	at   int64
}

// Reader returns a reader of what is kept.
func (t *Timeline) Reader() *Reader { return &Reader{t: t} }

// Place says where bytes are; ok is false when they are not kept.
func (t *Timeline) Place(sum Sum) (k Kept, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sum == emptySum {
		return Kept{Sum: sum}, true
	}
	k, ok = t.kept[sum]
	return k, ok
}

// CopyTo writes the bytes that a sum names, and fails when they are not kept or are others.
func (r *Reader) CopyTo(w io.Writer, sum Sum) error {
	k, ok := r.t.Place(sum)
	if !ok {
		return errors.New("the bytes are no longer kept")
	}
	if k.Size > 0 {
		if err := r.seek(k); err != nil {
			return fmt.Errorf("the bytes cannot be read: %w", err)
		}
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(r.source(), k.Size))
	r.at += n
	switch {
	case err != nil:
		return err
	case n != k.Size || Sum(hex.EncodeToString(hash.Sum(nil))) != sum:
		return ErrOther
	}
	return nil
}

func (r *Reader) source() io.Reader {
	if r.from == nil {
		return eof{}
	}
	return r.from
}

// seek goes to where bytes begin.
func (r *Reader) seek(k Kept) error {
	if r.from == nil || r.name != k.Name || r.at > k.At {
		r.Close()
		from, err := r.t.o.Contents.Open(k.Name)
		if err != nil {
			return err
		}
		r.from, r.name, r.at = from, k.Name, 0
	}
	n, err := io.CopyN(io.Discard, r.from, k.At-r.at)
	r.at += n
	return err
}

// Close lets go of what is open.
func (r *Reader) Close() {
	if r.from != nil {
		_ = r.from.Close() // it was only read
		r.from = nil
	}
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

package journal

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
)

// Content names bytes by what they are.
type Content struct {
	Sum  [sha256.Size]byte
	Size int64
}

// ContentOf names a text.
func ContentOf(text string) Content {
	return Content{Sum: sha256.Sum256([]byte(text)), Size: int64(len(text))}
}

// Sum names what a reader gives.
func Sum(r io.Reader) (Content, error) {
	hash := sha256.New()
	n, err := io.Copy(hash, r)
	c := Content{Size: n}
	hash.Sum(c.Sum[:0])
	return c, err
}

// ErrOther reports bytes that are not those they should be: a file that changes
// while it is read, or a pre-image that was tampered with.
var ErrOther = errors.New("the bytes are not the expected ones")

// copyExactly copies the bytes that c names, or fails with ErrOther.
func copyExactly(w io.Writer, r io.Reader, c Content) error {
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, hash), io.LimitReader(r, c.Size+1))
	if err != nil {
		return err
	}
	if n != c.Size || [sha256.Size]byte(hash.Sum(nil)) != c.Sum {
		return ErrOther
	}
	return nil
}

// exact notes what was read of a reader.
type exact struct {
	r    io.Reader
	hash hash.Hash
	size int64
}

// Read implements io.Reader.
func (e *exact) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	e.size += int64(n)
	e.hash.Write(p[:n])
	return n, err
}

// is reports whether the bytes that c names were read, and no others.
func (e *exact) is(c Content) bool {
	return e.size == c.Size && [sha256.Size]byte(e.hash.Sum(nil)) == c.Sum
}

// Form is what stands at a path.
type Form uint8

// The forms. The zero value is nothing.
const (
	Absent Form = iota
	File
	Link
)

// State is what stood at a path at one moment.
type State struct {
	Form Form
	// Content names a file's bytes. Kept says that they are in the journal.
	Content Content
	Kept    bool
	// Unread marks a file that was too large to be read: Info alone tells it
	// from others.
	Unread bool
	// Target is where a link led.
	Target string
	// Info holds mode and owner; nil for what is absent.
	Info fs.FileInfo
	// Attributes are extended attributes, as far as they could be read.
	Attributes []Attribute
}

// Named is the content of a file that was read, else nil.
func (s State) Named() *Content {
	if s.Form != File || s.Unread || s.Content.Sum == ([sha256.Size]byte{}) {
		return nil
	}
	return &s.Content
}

// Attribute is one extended attribute of a file.
type Attribute struct {
	Name  string
	Value []byte
}

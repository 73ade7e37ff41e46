package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"acp-agent/internal/userfile"
)

// Blob names a content that is stored with a session, such as that of a file before an edit, or a result
// that was too long for the model.
type Blob struct {
	// Digest is the SHA-256 of the content, in hexadecimal.
	Digest string `json:"digest"`
	// Size is the length of the content, in bytes.
	Size int64 `json:"size"`
}

var (
	// ErrOff reports that nothing is stored.
	ErrOff = errors.New("sessions are not stored")
	// ErrBlob reports a blob whose content is not what was stored.
	ErrBlob = errors.New("the stored content is damaged")
)

const (
	blobsName = "blobs"
	// zstdEnd is the end of the name of a blob that is compressed.
	zstdEnd = ".zst"
)

// PutBlob stores a content for a session and syncs it. Each content is on the disk once: blobs/ has a link
// to it, and so has the directory of each session that refers to it. So the file system counts the
// references, over all processes and through any crash.
func (s *Store) PutBlob(id string, content io.Reader) (Blob, error) {
	if s == nil {
		return Blob{}, ErrOff
	}
	if err := checkID(id); err != nil {
		return Blob{}, err
	}
	for _, dir := range []string{s.o.Dir, filepath.Join(s.o.Dir, blobsName), s.path(id, blobsEnd)} {
		if err := userfile.MakeDir(dir); err != nil {
			return Blob{}, err
		}
	}
	temp := filepath.Join(s.o.Dir, blobsName, rand.Text()+tempEnd)
	blob, end, err := s.writeBlob(temp, content)
	if err == nil {
		err = s.linkBlob(id, temp, blob.Digest, end)
	}
	_ = os.Remove(temp) // it has other links by now, or is useless
	if err != nil {
		return Blob{}, fmt.Errorf("store a blob of session %s: %w", id, err)
	}
	return blob, nil
}

// writeBlob writes a content to a new file. end is zstdEnd when it is compressed.
func (s *Store) writeBlob(name string, content io.Reader) (blob Blob, end string, err error) {
	f, err := userfile.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return blob, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p, _ := s.compressors.Get().(*compressor)
	if p == nil {
		if p, err = newCompressor(); err != nil {
			return blob, "", err
		}
	}
	defer s.compressors.Put(p)
	size, sum, end, err := p.write(f, content)
	if err == nil {
		err = f.Sync()
	}
	return Blob{Digest: hex.EncodeToString(sum), Size: size}, end, err
}

// linkBlob links a file as a blob. The session's link comes first: from then on no sweep removes the file.
func (s *Store) linkBlob(id, temp, digest, end string) error {
	shared, own := s.sharedBlob(digest, end), filepath.Join(s.path(id, blobsEnd), digest+end)
	if !userfile.Missing(own) {
		return nil
	}
	if err := os.Link(shared, own); err == nil || errors.Is(err, fs.ErrExist) {
		return nil // another session has the same content
	}
	if err := os.Link(temp, own); err != nil {
		// The file system has no hard links: the session has a copy of its own.
		if err := os.Rename(temp, own); err != nil {
			return err
		}
		userfile.SyncDir(filepath.Dir(own))
		return nil
	}
	userfile.SyncDir(filepath.Dir(own))
	if err := userfile.MakeDir(filepath.Dir(shared)); err != nil {
		return err
	}
	if err := os.Link(temp, shared); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (s *Store) sharedBlob(digest, end string) string {
	return filepath.Join(s.o.Dir, blobsName, digest[:2], digest+end)
}

// OpenBlob opens a content that a session refers to. Its reader fails with ErrBlob at the end
// when the content is not what was stored.
func (s *Store) OpenBlob(id, digest string) (io.ReadCloser, error) {
	if s == nil {
		return nil, ErrOff
	}
	if err := checkID(id); err != nil {
		return nil, err
	}
	if !isDigest(digest) {
		return nil, fmt.Errorf("blob %q: %w", digest, fs.ErrNotExist)
	}
	name := filepath.Join(s.path(id, blobsEnd), digest)
	f, err := userfile.Open(name, os.O_RDONLY)
	if err == nil {
		return &blobReader{file: f, from: f, sum: sha256.New(), digest: digest}, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if f, err = userfile.Open(name+zstdEnd, os.O_RDONLY); err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &blobReader{file: f, from: decoder, done: decoder.Close, sum: sha256.New(), digest: digest}, nil
}

func isDigest(text string) bool {
	return len(text) == 2*sha256.Size && strings.Trim(text, "0123456789abcdef") == ""
}

// blobReader reads a blob and checks it.
type blobReader struct {
	file   *os.File
	from   io.Reader
	done   func() // nil for a blob that is not compressed
	sum    hash.Hash
	digest string
}

// Read implements io.Reader.
func (b *blobReader) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.sum.Write(p[:n])
	switch {
	case err == nil:
	case !errors.Is(err, io.EOF):
		err = fmt.Errorf("%w: %w", ErrBlob, err)
	case hex.EncodeToString(b.sum.Sum(nil)) != b.digest:
		err = ErrBlob
	}
	return n, err
}

// Close implements io.Closer.
func (b *blobReader) Close() error {
	if b.done != nil {
		b.done()
	}
	return b.file.Close()
}

// linkBlobs lets one session refer to all blobs of another one.
func (s *Store) linkBlobs(from, to string) error {
	entries, err := os.ReadDir(s.path(from, blobsEnd))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := userfile.MakeDir(s.path(to, blobsEnd)); err != nil {
		return err
	}
	for _, entry := range entries {
		old, own := filepath.Join(s.path(from, blobsEnd), entry.Name()), filepath.Join(s.path(to, blobsEnd), entry.Name())
		if os.Link(old, own) == nil {
			continue
		}
		if err := copyFile(old, own); err != nil {
			return err
		}
	}
	userfile.SyncDir(s.path(to, blobsEnd))
	return nil
}

func copyFile(from, to string) error {
	in, err := userfile.Open(from, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := userfile.Open(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// removeBlobs removes a session's references, and the contents that have no other reference.
func (s *Store) removeBlobs(id string) error {
	dir := s.path(id, blobsEnd)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		err = errors.Join(err, userfile.Remove(filepath.Join(dir, entry.Name())))
		digest, _ := strings.CutSuffix(entry.Name(), zstdEnd)
		if !isDigest(digest) {
			continue
		}
		shared := filepath.Join(s.o.Dir, blobsName, digest[:2], entry.Name())
		// A process that stores the same content at this moment either has its link already, or
		// writes it again.
		if info, stat := os.Lstat(shared); stat == nil && linkCount(shared, info) == 1 {
			err = errors.Join(err, userfile.Remove(shared))
		}
	}
	return errors.Join(err, userfile.Remove(dir))
}

package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// sampleBytes is how much of a content decides whether it is compressed, and leastPacked the
	// size from which it is.
	sampleBytes = 64 << 10
	leastPacked = 1 << 10
)

// packer writes contents, compressed if that makes them smaller. Its tables and buffers take more
// memory than most contents, so it is used again.
type packer struct {
	encoder *zstd.Encoder
	sample  []byte // of sampleBytes
	packed  []byte // the sample, compressed
}

func newPacker() (*packer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	return &packer{encoder: encoder, sample: make([]byte, sampleBytes)}, err
}

// pack writes a content. end is packedEnd when it is compressed.
func (p *packer) pack(to io.Writer, content io.Reader) (size int64, sum []byte, end string, err error) {
	n, err := io.ReadFull(content, p.sample)
	short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !short {
		return 0, nil, "", err
	}
	sample := p.sample[:n]
	if n >= leastPacked {
		p.packed = p.encoder.EncodeAll(sample, p.packed[:0])
		if len(p.packed) < n*9/10 {
			end = packedEnd
		}
	}
	hash := sha256.New()
	if short {
		hash.Write(sample)
		if end != "" {
			sample = p.packed
		}
		_, err = to.Write(sample)
		return int64(n), hash.Sum(nil), end, err
	}
	rest := io.MultiReader(bytes.NewReader(sample), content)
	if end == "" {
		size, err = io.Copy(io.MultiWriter(to, hash), rest)
		return size, hash.Sum(nil), end, err
	}
	p.encoder.Reset(to)
	if size, err = io.Copy(io.MultiWriter(p.encoder, hash), rest); err == nil {
		err = p.encoder.Close()
	}
	p.encoder.Reset(nil) // lets go of the file
	return size, hash.Sum(nil), end, err
}

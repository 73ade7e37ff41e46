package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// sampleBytes is how much of a content is compressed to see whether that is worth while, and
	// leastCompressed the size below which it is not tried.
	sampleBytes     = 64 << 10
	leastCompressed = 1 << 10
)

// compressor writes contents, compressed if that makes them smaller. Its tables and buffers take more
// memory than most contents, so it is reused.
type compressor struct {
	encoder *zstd.Encoder
	sample  []byte // a buffer of sampleBytes
	small   []byte // the compressed sample
}

func newCompressor() (*compressor, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	return &compressor{encoder: encoder, sample: make([]byte, sampleBytes)}, err
}

// write writes a content, and returns its size and hash. end is zstdEnd when it is compressed.
func (p *compressor) write(to io.Writer, content io.Reader) (size int64, sum []byte, end string, err error) {
	n, err := io.ReadFull(content, p.sample)
	short := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !short {
		return 0, nil, "", err
	}
	sample := p.sample[:n]
	if n >= leastCompressed {
		p.small = p.encoder.EncodeAll(sample, p.small[:0])
		if len(p.small) < n*9/10 {
			end = zstdEnd
		}
	}
	hash := sha256.New()
	if short {
		hash.Write(sample)
		if end != "" {
			sample = p.small
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
	p.encoder.Reset(nil) // so that it does not keep the file
	return size, hash.Sum(nil), end, err
}

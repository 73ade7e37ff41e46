package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

const (
	// maxFrame bounds one message of a server (M2).
	maxFrame = 16 << 20
	// maxNoise bounds what may stand between messages: some servers print a line
	// of log where only messages belong.
	maxNoise = 64 << 10
)

// stream is a server's pair of pipes as messages with a header each. The
// library's codec writes them; it does not read them, for it knows no bound.
type stream struct {
	jsonrpc2.VSCodeObjectCodec
	pipe io.ReadWriteCloser
	r    *bufio.Reader
	w    *bufio.Writer

	shut   sync.Once
	closed chan struct{} // closed when the pipe is
	ended  chan struct{} // closed when the last message was read
	broken error         // why no more were read, when it was no end; set before ended is closed
}

func newStream(pipe io.ReadWriteCloser) *stream {
	return &stream{
		pipe: pipe, r: bufio.NewReader(pipe), w: bufio.NewWriter(pipe),
		closed: make(chan struct{}), ended: make(chan struct{}),
	}
}

// WriteObject writes one message. Its caller writes one at a time.
func (s *stream) WriteObject(v any) error {
	if err := s.VSCodeObjectCodec.WriteObject(s.w, v); err != nil {
		return err
	}
	return s.w.Flush()
}

// ReadObject reads the next message. It is called by one goroutine and not again
// after an error.
func (s *stream) ReadObject(v any) error {
	body, err := readFrame(s.r)
	if err == nil {
		if err = json.Unmarshal(body, v); err != nil {
			err = fmt.Errorf("it sent what is no message: %w", err)
		}
	}
	if err != nil {
		s.end(err)
	}
	return err
}

func (s *stream) end(err error) {
	defer close(s.ended)
	select {
	case <-s.closed: // by us
	default:
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			s.broken = err
		}
	}
}

// fault is why the server's messages could not be read any more; nil when they
// can, or came to an end.
func (s *stream) fault() error {
	select {
	case <-s.ended:
		return s.broken
	default:
		return nil
	}
}

// Close closes the pipe once, and waits for another that is doing so.
func (s *stream) Close() (err error) {
	s.shut.Do(func() {
		defer close(s.closed)
		err = s.pipe.Close()
	})
	return err
}

// readFrame returns the body of the next message. Lines that are no header are
// passed over up to a bound.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, seen := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if seen += len(line); seen > maxNoise {
			return nil, errors.New("it printed something other than messages")
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue // the rest of a long line is no header either
		case err != nil:
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 && length >= 0 {
			break
		}
		name, value, _ := strings.Cut(string(line), ":")
		if !strings.EqualFold(name, "Content-Length") {
			continue
		}
		length, err = strconv.Atoi(strings.TrimSpace(value))
		if err != nil || length < 0 || length > maxFrame {
			return nil, fmt.Errorf("it announced a message of %.20s bytes", strings.TrimSpace(value))
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	return body, err
}

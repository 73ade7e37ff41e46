package peer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"acp-agent/internal/textcut"
)

// Framing is how messages are told apart.
type Framing int

// Lines is one message a line, Headers a Content-Length before each message, as in the
// Language Server Protocol.
const (
	Lines Framing = iota
	Headers
)

const (
	// MaxFrame bounds one message, in bytes.
	MaxFrame = 16 << 20
	// maxNoise bounds the text between messages with headers, in bytes: some programs log to
	// their standard output.
	maxNoise = 64 << 10
)

// ErrFrame ends a connection whose process sends a line without end.
var ErrFrame = fmt.Errorf("it sent a message of more than %d MiB", MaxFrame>>20)

// wrap returns a message as it stands on the wire.
func (f Framing) wrap(body []byte) []byte {
	if f == Lines {
		return append(body, '\n')
	}
	return append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
}

// read returns the next message. ok is false for a line that is none.
func (f Framing) read(r *bufio.Reader) (m *Message, ok bool, err error) {
	if f == Lines {
		return readLine(r)
	}
	body, err := readHeaders(r)
	if err != nil {
		return nil, false, err
	}
	m = &Message{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, false, fmt.Errorf("it sent something that is no message: %w", err)
	}
	return m, true, nil
}

func readLine(r *bufio.Reader) (m *Message, ok bool, err error) {
	line, err := textcut.Line(r, MaxFrame)
	switch {
	case errors.Is(err, textcut.ErrLong):
		return nil, false, ErrFrame
	case err != nil:
		return nil, false, err
	}
	m = &Message{}
	line = bytes.TrimSpace(line)
	return m, bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, m) == nil, nil
}

// readHeaders returns the body of the next message. Lines that are no header are passed over
// up to a bound.
func readHeaders(r *bufio.Reader) ([]byte, error) {
	length, seen := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if seen += len(line); seen > maxNoise {
			return nil, errors.New("it printed something other than messages")
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue // the rest of a long line is not a header either
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
		if err != nil || length < 0 || length > MaxFrame {
			return nil, fmt.Errorf("it announced a message of %.20s bytes", strings.TrimSpace(value))
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(r, body)
	return body, err
}

package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/internal/redact"
	"acp-agent/kinds"
)

// maxFrame bounds one message of a server, in bytes (M2).
const maxFrame = 16 << 20

// overStreams speaks to a program over its standard streams.
func overStreams(pipe io.ReadWriteCloser, keys *redact.Values, ignored func()) sdk.Transport {
	return &sdk.IOTransport{
		Reader: struct {
			io.Reader
			io.Closer
		}{&messages{from: bufio.NewReaderSize(pipe, 64<<10), keys: keys, ignored: ignored}, pipe},
		Writer: struct {
			io.Writer
			io.Closer
		}{pipe, pipe}, MaxLineLength: -1, // messages has bounded it
	}
}

// errFrame ends a connection whose server sends without end.
var errFrame = fmt.Errorf("it sent a message of more than %d MiB", maxFrame>>20)

// messages passes on the lines of a program's output that are messages, without the keys
// that it was given. What else a program prints there, such as a greeting, would end the
// connection.
type messages struct {
	from    *bufio.Reader
	keys    *redact.Values
	ignored func()
	line    []byte // what is left of the one being passed on
}

// Read implements io.Reader.
func (m *messages) Read(b []byte) (int, error) {
	for len(m.line) == 0 {
		line, err := m.next()
		if err != nil {
			return 0, err
		}
		if isMessage(line) {
			m.line = discreet(m.keys, line)
		} else if len(bytes.TrimSpace(line)) > 0 {
			m.ignored()
		}
	}
	n := copy(b, m.line)
	m.line = m.line[n:]
	return n, nil
}

// discreet takes keys out of a message.
func discreet(keys *redact.Values, line []byte) []byte {
	if keys.Empty() {
		return line
	}
	return []byte(keys.Known(string(line)))
}

// next reads one line, with its end.
func (m *messages) next() ([]byte, error) {
	var line []byte
	for {
		part, err := m.from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxFrame:
			return nil, errFrame
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err // what stands before the end of the output is half a line
		}
	}
}

// isMessage reports whether a line is one whole JSON-RPC message.
func isMessage(line []byte) bool {
	var message struct {
		Version string `json:"jsonrpc"`
	}
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && json.Unmarshal(line, &message) == nil && message.Version == "2.0"
}

// maxWords bounds what is kept of a program's errors, in bytes.
const maxWords = 2 << 10

// words keeps the end of what a program writes to its standard error.
type words struct {
	mu   sync.Mutex
	last []byte
}

// Write implements io.Writer. It takes everything.
func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last = append(w.last, b...); len(w.last) > maxWords {
		w.last = append([]byte(nil), w.last[len(w.last)-maxWords:]...)
	}
	return len(b), nil
}

// String is the last line that speaks of an error, for some programs write where it was
// behind it, and otherwise the last line with text.
func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(w.last)), "\n")
	last := lines[len(lines)-1]
	for _, line := range slices.Backward(lines) {
		if strings.Contains(strings.ToLower(line), "error") {
			last = line
			break
		}
	}
	return kinds.Line(last, maxProblem)
}

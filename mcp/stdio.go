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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/internal/redact"
	"acp-agent/internal/textcut"
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
		line, err := textcut.Line(m.from, maxFrame)
		switch {
		case errors.Is(err, textcut.ErrLong):
			return 0, errFrame
		case err != nil:
			return 0, err
		}
		if isMessage(line) {
			m.line = redactMessage(m.keys, line)
		} else if len(bytes.TrimSpace(line)) > 0 {
			m.ignored()
		}
	}
	n := copy(b, m.line)
	m.line = m.line[n:]
	return n, nil
}

// redactMessage takes keys out of a message.
func redactMessage(keys *redact.Values, line []byte) []byte {
	if keys.Empty() {
		return line
	}
	return []byte(keys.Known(string(line)))
}

// isMessage reports whether a line is one whole JSON-RPC message.
func isMessage(line []byte) bool {
	var message struct {
		Version string `json:"jsonrpc"`
	}
	return bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) && json.Unmarshal(line, &message) == nil && message.Version == "2.0"
}

// maxStderr bounds what is kept of a program's standard error, in bytes.
const maxStderr = 2 << 10

// lastError is the last line of a program's standard error that speaks of an error, for some
// programs write where it happened after it, and otherwise the last line with text.
func lastError(stderr *textcut.Tail) string {
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	last := lines[len(lines)-1]
	for _, line := range slices.Backward(lines) {
		if strings.Contains(strings.ToLower(line), "error") {
			last = line
			break
		}
	}
	return kinds.Line(last, maxProblem)
}

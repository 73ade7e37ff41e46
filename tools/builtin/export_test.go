package builtin

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"acp-agent/tools"
)

// The limits that prompt texts quote.
const (
	DefaultLines  = defaultLines
	MaxLines      = maxLines
	MaxLineBytes  = maxLineBytes
	MaxEntries    = maxEntries
	MaxImageBytes = maxImageBytes
	GrepPerFile   = grepPerFile
	GrepLine      = grepLine
)

// LockOrder is the order in which a call locks files.
var LockOrder = lockOrder

// CleanOutput is exported for its fuzz target.
func CleanOutput(raw string) string { return cleanOutput(raw) }

// Window is what read takes out of a text that comes in chunks.
func Window(ctx context.Context, content string, from, to, chunk int) (text string, more bool, err error) {
	w := &window{from: from, to: to, maxBytes: 1 << 40}
	err = w.scan(ctx, chunked{strings.NewReader(content), chunk}, 1)
	return w.text.String(), w.more, err
}

// chunked is a reader that gives at most size bytes at once.
type chunked struct {
	io.Reader
	size int
}

func (c chunked) Read(p []byte) (int, error) { return c.Reader.Read(p[:min(len(p), c.size)]) }

// Answer reads an output of ripgrep: its files, whether it is complete, and
// what was said.
func Answer(output []string, counted bool) (files []string, complete bool, said string) {
	a := &answer{counted: counted, take: func(name string, hit bool) { files = append(files, fmt.Sprint(name, hit)) }}
	for _, piece := range output {
		_, _ = a.Write([]byte(piece)) // it never fails
	}
	return files, a.complete(), string(a.said)
}

// TimeLimit is timeLimit.
func TimeLimit(limit time.Duration, seconds float64) time.Duration {
	return timeLimit(tools.Limits{BashTimeout: limit}, seconds)
}

package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"acp-agent/internal/fileuri"
	"acp-agent/internal/pause"
	"acp-agent/internal/peer"
	"acp-agent/internal/textcut"
)

// connection is one running server. Its goroutines are those of its peer.
type connection struct {
	server Server
	root   string
	o      *Options
	peer   *peer.Peer
	stderr *textcut.Tail

	encoding encoding
	pulls    bool // findings are asked for, not waited for

	docs documents
	news news
}

// connect makes a connection of a server's pipes and initializes the server. The end of
// ctx gives up; the connection lives on until it is closed.
func connect(ctx context.Context, s Server, root string, o *Options, pipe io.ReadWriteCloser, stderr *textcut.Tail) (*connection, error) {
	c := &connection{server: s, root: root, o: o, stderr: stderr, docs: newDocuments(), news: newNews()}
	c.peer = peer.New(pipe, peer.Options{
		Framing: peer.Headers, Notified: c.notified, Requested: c.request, Cancel: "$/cancelRequest",
	})
	if err := c.initialize(ctx); err != nil {
		c.peer.Close()
		return nil, err
	}
	return c, nil
}

func (c *connection) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.o.StartWait, fmt.Errorf("%s did not start within %v", c.server.Name, c.o.StartWait))
	defer cancel()
	uri := fileuri.Of(c.root)
	params := map[string]any{
		"processId":             nil, // it ends with us in any case
		"clientInfo":            map[string]any{"name": "acp-agent"},
		"rootUri":               uri,
		"workspaceFolders":      []folder{{uri, filepath.Base(c.root)}},
		"capabilities":          capabilities(),
		"initializationOptions": c.server.Options,
	}
	var result initializeResult
	if err := c.call(ctx, "initialize", params, &result); err != nil {
		return err
	}
	c.encoding = result.Capabilities.PositionEncoding
	if c.encoding == "" {
		c.encoding = utf16Units
	}
	c.pulls = offered(result.Capabilities.DiagnosticProvider)
	return c.notify(ctx, "initialized", struct{}{})
}

// capabilities are what we understand, which is little.
func capabilities() any {
	type object = map[string]any
	return object{
		"general": object{"positionEncodings": []encoding{utf8Units, utf16Units, utf32Units}},
		"window":  object{"workDoneProgress": true},
		"workspace": object{
			"configuration": true, "workspaceFolders": true, "applyEdit": false,
			"didChangeWatchedFiles": object{"dynamicRegistration": true},
		},
		"textDocument": object{
			"definition":         object{"linkSupport": true},
			"references":         object{},
			"publishDiagnostics": object{"versionSupport": true},
			"diagnostic":         object{},
		},
	}
}

// Codes with which a server asks to be asked again.
const (
	codeServerCancelled = -32802
	codeContentModified = -32801
)

const (
	// retries and retryPause bound how long a server may ask for that.
	retries    = 10
	retryPause = 300 * time.Millisecond
)

// call asks the server and decodes its answer. When ctx ends first, the server
// is told that the answer is no longer needed.
func (c *connection) call(ctx context.Context, method string, params, result any) error {
	for try := 1; ; try++ {
		err := c.callOnce(ctx, method, params, result)
		var refused *peer.Error
		if !errors.As(err, &refused) {
			return err
		}
		again := refused.Code == codeContentModified || refused.Code == codeServerCancelled
		if !again || try == retries {
			return fmt.Errorf("%s: %s", c.server.Name, refused.Message)
		}
		if err := pause.For(ctx, retryPause); err != nil {
			return err
		}
	}
}

func (c *connection) callOnce(ctx context.Context, method string, params, result any) error {
	raw, err := c.peer.Call(ctx, method, params)
	if err != nil {
		return c.failure(err)
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("%s answered %s with something else than it promises: %w", c.server.Name, method, err)
	}
	return nil
}

func (c *connection) notify(ctx context.Context, method string, params any) error {
	return c.failure(c.peer.Notify(ctx, method, params))
}

// failure returns the error of a message: the stderr tail tells more of a server that is gone.
func (c *connection) failure(err error) error {
	if err != nil && errors.Is(err, c.peer.Err()) {
		return c.lost()
	}
	return err
}

// lost is the error of a server that is gone, with its stderr tail, which is whole once the
// server is shut.
func (c *connection) lost() error {
	c.peer.Shut()
	lost := &lostError{server: c.server.Name, stderr: c.stderr.String()}
	if fault := c.peer.Err(); !errors.Is(fault, peer.ErrEnded) {
		lost.fault = fault
	}
	return lost
}

// lostError reports a server that ended by itself, or was ended for what it sent.
type lostError struct {
	server string
	fault  error
	stderr string // the tail of it
}

// Error gives the reason, if there is one, and the server's stderr tail.
func (e *lostError) Error() string {
	text := e.server + " ended unexpectedly"
	if e.fault != nil {
		text = fmt.Sprintf("%s was ended: %v", e.server, e.fault)
	}
	if tail := strings.TrimSpace(e.stderr); tail != "" {
		text += "\n" + tail
	}
	return text
}

// Err says why the server cannot be asked any more; nil means that it can.
func (c *connection) Err() error {
	select {
	case <-c.peer.Done():
		return c.lost()
	default:
		return nil
	}
}

// Close asks the server to end, gives it the grace to do so, and ends it.
func (c *connection) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), c.o.Grace)
	defer cancel()
	var ignored json.RawMessage
	if c.callOnce(ctx, "shutdown", nil, &ignored) == nil && c.notify(ctx, "exit", nil) == nil {
		select {
		case <-c.peer.Done():
		case <-ctx.Done():
		}
	}
	c.peer.Close()
}

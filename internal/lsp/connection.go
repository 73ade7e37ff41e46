package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"acp-agent/internal/fileuri"
	"acp-agent/internal/pause"
	"acp-agent/internal/textcut"
)

// connection is one running server. Its goroutines are the library's reader and
// the one that writes replies; both end with the pipe. What ends a server that
// does not take a message runs in the manager's group.
type connection struct {
	server Server
	root   string
	o      *Options
	work   *sync.WaitGroup // the manager's
	stream *stream
	rpc    *jsonrpc2.Conn
	stderr *textcut.Tail
	last   atomic.Uint64 // id of a request

	encoding encoding
	pulls    bool // findings are asked for, not waited for

	replies chan *jsonrpc2.Response
	docs    documents
	news    news
}

// connect makes a connection of a server's pipes and introduces us. The end of
// ctx gives up.
func connect(ctx context.Context, s Server, root string, o *Options, work *sync.WaitGroup, pipe io.ReadWriteCloser, stderr *textcut.Tail) (*connection, error) {
	c := &connection{
		server: s, root: root, o: o, work: work, stream: newStream(pipe), stderr: stderr,
		replies: make(chan *jsonrpc2.Response, maxReplies), docs: newDocuments(), news: newNews(),
	}
	// It lives until it is closed, not as long as the query that needed it first.
	c.rpc = jsonrpc2.NewConn(context.WithoutCancel(ctx), c.stream, c, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	work.Go(c.reply)
	if err := c.initialize(ctx); err != nil {
		c.kill()
		c.join()
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
	// cancelWait is how long telling a server that no one waits may take.
	cancelWait = time.Second
	// maxReplies is how many answers to the server's own requests may be under way.
	maxReplies = 64
)

// call asks the server and decodes its answer. When ctx ends first, the server
// is told that no one waits any more.
func (c *connection) call(ctx context.Context, method string, params, result any) error {
	for try := 1; ; try++ {
		err := c.callOnce(ctx, method, params, result)
		var refused *jsonrpc2.Error
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
	id := jsonrpc2.ID{Num: c.last.Add(1)}
	var waiter jsonrpc2.Waiter
	err := c.send(ctx, func() (err error) {
		waiter, err = c.rpc.DispatchCall(ctx, method, params, jsonrpc2.PickID(id))
		return err
	})
	if err != nil {
		return err
	}
	raw := json.RawMessage("null")
	err = waiter.Wait(ctx, &raw)
	switch {
	case ctx.Err() != nil:
		c.cancel(id)
		return context.Cause(ctx)
	case errors.Is(err, jsonrpc2.ErrClosed):
		return c.lost()
	case err != nil:
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("%s answered %s with something else than it promises: %w", c.server.Name, method, err)
	}
	return nil
}

// cancel tells the server, behind the answer, that a request is void.
func (c *connection) cancel(id jsonrpc2.ID) {
	c.work.Go(func() {
		ctx, stop := context.WithTimeout(context.Background(), cancelWait)
		defer stop()
		_ = c.notify(ctx, "$/cancelRequest", map[string]any{"id": id}) // of a server that is gone no one waits
	})
}

func (c *connection) notify(ctx context.Context, method string, params any) error {
	return c.send(ctx, func() error { return c.rpc.Notify(ctx, method, params) })
}

// send writes to the server. One that has not taken a message by the end of ctx
// hangs, and half of that message would spoil the next: it is ended.
func (c *connection) send(ctx context.Context, write func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.work.Add(1)
	unbind := context.AfterFunc(ctx, func() {
		defer c.work.Done()
		c.kill()
	})
	err := write()
	if unbind() {
		c.work.Done()
	}
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return c.lost()
	}
	return nil
}

// stderrWait is how long the errors of a server that is gone may take to arrive:
// its output can end before them.
const stderrWait = 500 * time.Millisecond

// lost is the error of a server that is gone, with its stderr tail.
func (c *connection) lost() error {
	c.kill()
	wait := time.NewTimer(stderrWait)
	defer wait.Stop()
	select {
	case <-c.stream.closed:
	case <-wait.C:
	}
	return &lostError{server: c.server.Name, fault: c.stream.fault(), stderr: c.stderr.String()}
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
	case <-c.rpc.DisconnectNotify():
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
		case <-c.rpc.DisconnectNotify():
		case <-ctx.Done():
		}
	}
	c.kill()
	c.join()
}

// kill ends the server. All that wait for it return at once.
func (c *connection) kill() {
	_ = c.rpc.Close() // it may have ended already
	_ = c.stream.Close()
}

// join waits until nothing is read or held open any more.
func (c *connection) join() {
	<-c.stream.closed
	<-c.stream.ended
}

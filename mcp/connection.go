package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/internal/redact"
	"acp-agent/internal/textcut"
)

// connection is one life of a server.
type connection struct {
	session *sdk.ClientSession
	remote  *remote
	pipe    io.Closer // of a program; nil for a server behind HTTP
	stderr  *textcut.Tail
	stale   atomic.Uint32 // the lists that have to be read, as bits
	changed chan struct{} // a token when the server says that one of them changed
	keys    *redact.Values
	over    chan struct{} // closed when all of it has ended
	calls   calls
	asking  asking
	cancel  context.CancelCauseFunc // ends what is asked and answered over it
	dead    <-chan struct{}         // closed by cancel
}

// connect starts the server, or reaches it, and initializes the connection.
func (l *link) connect(ctx context.Context) (*connection, error) {
	starting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer l.startWithin(startLimit, func() { cancel(fmt.Errorf("it did not answer within %v", startLimit)) })()
	c := &connection{stderr: textcut.NewTail(maxStderr), keys: &l.keys, changed: make(chan struct{}, 1), over: make(chan struct{})}
	// Not with ctx: the library sends a closing request to a server behind HTTP.
	ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.dead = ctx.Done()
	transport, err := l.reach(ctx, starting, c)
	if err != nil {
		c.cancel(errEnded)
		return nil, err
	}
	options := &sdk.ClientOptions{
		Capabilities:                l.capabilities(),
		ToolListChangedHandler:      func(context.Context, *sdk.ToolListChangedRequest) { c.note(toolList) },
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { c.note(promptList) },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { c.note(resourceList) },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { c.calls.progress(r.Params) },
	}
	l.mayAsk(c, options)
	client := sdk.NewClient(&sdk.Implementation{Name: "acp-agent", Version: l.manager.o.Version}, options)
	client.AddReceivingMiddleware(l.answer)
	// The context of the library's connection lasts as long as that does. A program that
	// does not read keeps a write waiting, which knows no context.
	unblock := context.AfterFunc(starting, c.abort)
	c.session, err = client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: protocol})
	if err != nil {
		c.abort()
		c.release()
		if starting.Err() != nil {
			err = context.Cause(starting)
		}
		return nil, c.explain(err)
	}
	if !unblock() {
		c.close()
		return nil, context.Cause(starting)
	}
	return c, nil
}

// startWithin calls late when the start of the server takes too long, unless over is called before.
// Pause holds its clock.
func (l *link) startWithin(limit time.Duration, late func()) (over func()) {
	clock := startClock(limit, late)
	l.mu.Lock()
	l.starting = clock
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.starting = nil
		l.mu.Unlock()
		clock.stop()
	}
}

// reach makes the transport. What a program is started with ends with starting, what a
// server behind HTTP is asked with ctx.
func (l *link) reach(ctx, starting context.Context, c *connection) (sdk.Transport, error) {
	if l.server.Command == "" {
		var err error
		if c.remote, err = newRemote(ctx, &l.server, &l.keys); err != nil {
			return nil, err
		}
		c.remote.signing = signing{link: l}
		return c.remote.transport(&l.server), nil
	}
	if l.manager.o.Start == nil {
		return nil, errors.New("programs cannot be started here")
	}
	pipe, err := l.manager.o.Start(starting, l.server, c.stderr)
	if err != nil {
		return nil, err
	}
	c.pipe = pipe
	return overStreams(pipe, &l.keys, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.ignored++
	}), nil
}

// note marks lists of the server as changed.
func (c *connection) note(which listing) {
	c.stale.Or(uint32(which))
	select {
	case c.changed <- struct{}{}:
	default: // it is known
	}
}

// abort closes the connection without the closing exchange, so that nothing waits for the server.
func (c *connection) abort() {
	if c.pipe != nil {
		_ = c.pipe.Close() // that it is gone is what is wanted
	}
	c.cancel(errEnded)
}

var errEnded = errors.New("the connection was ended")

// close ends the connection and waits for its end.
func (c *connection) close() {
	if c.pipe == nil {
		farewell := time.AfterFunc(closeLimit, c.abort)
		defer farewell.Stop()
	} else {
		c.abort()
	}
	_ = c.session.Close() // what it was is known
	c.abort()
	c.release()
}

// release lets go of what a connection that has ended keeps for another request.
func (c *connection) release() {
	if c.remote != nil {
		c.remote.base.CloseIdleConnections()
	}
}

// gone are the errors of streams and connections whose other side has ended.
var gone = []error{io.EOF, io.ErrClosedPipe, fs.ErrClosed, syscall.EPIPE, sdk.ErrConnectionClosed}

// explain says how a connection ended, with the last line of its program's standard error.
func (c *connection) explain(err error) error {
	if exchange, ok := errors.AsType[*url.Error](err); ok {
		err = exchange.Err // without the address, in which a key may stand
	}
	switch {
	case c.remote != nil && c.remote.refused.Load():
		return c.remote.refusal()
	case err == nil, slices.ContainsFunc(gone, func(end error) bool { return errors.Is(err, end) }):
		err = errors.New("it ended")
	default:
		err = plainError(err)
	}
	if last := c.keys.Known(lastError(c.stderr)); last != "" {
		return fmt.Errorf("%w; stderr: %s", err, last)
	}
	return err
}

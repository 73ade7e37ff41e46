package mcp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"slices"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// note says that a list of the server's changed.
func (c *connection) note(which listing) {
	c.stale.Or(uint32(which))
	select {
	case c.changed <- struct{}{}:
	default: // it is known
	}
}

// abort ends the connection without a farewell, so that nothing waits on it.
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

// explain says how a connection ended, with the last words of a program.
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
		err = plainly(err)
	}
	if last := c.keys.Known(c.words.String()); last != "" {
		return fmt.Errorf("%w; its last words: %s", err, last)
	}
	return err
}

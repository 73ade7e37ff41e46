package relay

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// carried is a connection of a server.
type carried struct {
	client net.Conn
	ctx    context.Context
	end    context.CancelFunc // ends the connection
	ended  chan struct{}      // closed when nothing is left of it
	// used is when it last carried something, or came: the time since start, which all connections of the server share.
	used  atomic.Int64
	start time.Time
}

func newCarried(ctx context.Context, client net.Conn, start time.Time) *carried {
	c := &carried{client: client, ended: make(chan struct{}), start: start}
	c.ctx, c.end = context.WithCancel(ctx)
	c.use()
	return c
}

func (c *carried) use() { c.used.Store(int64(time.Since(c.start))) }

// join carries the connection to one that dial makes.
func (c *carried) join(dial func(context.Context) (net.Conn, error)) {
	defer c.end()
	defer c.client.Close()
	server, err := dial(c.ctx)
	if err != nil {
		return
	}
	defer server.Close()
	stop := context.AfterFunc(c.ctx, func() {
		c.client.Close()
		server.Close()
	})
	defer stop()
	Join(watched{c.client, c}, watched{server, c}, nil)
}

// watched notes that its connection is used.
type watched struct {
	net.Conn
	of *carried
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if n > 0 {
		w.of.use()
	}
	return n, err
}

func (w watched) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	if n > 0 {
		w.of.use()
	}
	return n, err
}

func (w watched) CloseWrite() error { return CloseWrite(w.Conn) }

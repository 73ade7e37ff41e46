package egress

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"acp-agent/internal/pause"
	"acp-agent/internal/relay"
)

const (
	// requestTimeout bounds how long a client may take to send its request.
	requestTimeout = 30 * time.Second
	// dialTimeout bounds the connection to a host, or to the user's proxy and its answer.
	dialTimeout = 30 * time.Second
	// acceptPause is how long the proxy waits after an Accept that failed, for example because the process has
	// no more file descriptors.
	acceptPause = 50 * time.Millisecond
	// maxConnections bounds the connections of one proxy; further ones wait to be accepted.
	maxConnections = 256
)

// Options say what a proxy lets through.
type Options struct {
	// Credential is the password that each client has to show, as [User]. Empty means
	// that none is asked for.
	Credential string
	// Judge decides about a destination: nil lets the connection through, any error does not, and a *Refusal
	// says why. It is called before a name is looked up; if the name leads to no public address, it is called
	// again for each address, with Private and Addr set, before the proxy connects to that. It may wait for the
	// user; ctx ends with the proxy, not with the client, so that an answer is not lost when a client gives up.
	Judge func(ctx context.Context, to Destination) error
	// LookUp finds the addresses of a name; nil means the system's resolver.
	LookUp func(ctx context.Context, name string) ([]netip.Addr, error)
	// Inside, when set, connects to a port of the loopback address where the clients are,
	// and is tried before loopback is judged: it may be a server of the clients' own.
	Inside func(ctx context.Context, port int) (net.Conn, error)
	// Login, when set, returns the user's login for a host, or why the client does not get it. It may wait for
	// the user, as Judge may.
	Login func(ctx context.Context, want Login) (Login, error)
	// Upstream, unless nil, names the user's own proxy on the way to a host.
	Upstream Upstream
	// Dial connects to an address that passed; nil means a net.Dialer.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// User is the user name of the credential.
const User = "acp-agent"

// Proxy serves one listener.
type Proxy struct {
	o        Options
	listener net.Listener
	ctx      context.Context
	cancel   context.CancelFunc
	http     *http.Server
	requests chan net.Conn  // connections of clients that speak HTTP
	slots    chan struct{}  // one value for each connection that was accepted
	running  sync.WaitGroup // goroutines, and requests of the HTTP server

	mu     sync.Mutex // guards what follows
	open   map[net.Conn]bool
	closed bool
}

// Serve answers the clients of a listener until Close, which also closes the listener.
func Serve(l net.Listener, o Options) *Proxy {
	if o.Dial == nil {
		dialer := net.Dialer{Timeout: dialTimeout}
		o.Dial = func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", to.String())
		}
	}
	if o.LookUp == nil {
		o.LookUp = func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		}
	}
	p := &Proxy{
		o: o, listener: l, requests: make(chan net.Conn), open: map[net.Conn]bool{},
		slots: make(chan struct{}, maxConnections),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.http = p.newHTTPServer()
	p.running.Go(p.accept)
	p.running.Go(func() { _ = p.http.Serve(&httpListener{p}) })
	return p
}

// Close ends the proxy, all its connections and its listener, and waits for its goroutines.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	open := p.open
	p.open = nil
	p.mu.Unlock()
	p.cancel()
	p.listener.Close()
	for conn := range open {
		conn.Close()
	}
	p.http.Close()
	p.running.Wait()
}

// accept takes connections until the listener is closed.
func (p *Proxy) accept() {
	for {
		select {
		case p.slots <- struct{}{}:
		case <-p.ctx.Done():
			return
		}
		conn, err := p.listener.Accept()
		if err != nil {
			<-p.slots
			if errors.Is(err, net.ErrClosed) || p.ctx.Err() != nil {
				return
			}
			if pause.For(p.ctx, acceptPause) != nil {
				return
			}
			continue
		}
		client := &clientConn{Conn: conn, proxy: p}
		if !p.track(client) {
			client.Close()
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve finds out which protocol a client speaks, and serves it or hands it to the HTTP server.
func (p *Proxy) serve(client *clientConn) {
	client.in = bufio.NewReader(client.Conn)
	_ = client.SetReadDeadline(time.Now().Add(requestTimeout))
	first, err := client.in.Peek(1)
	switch {
	case err != nil:
		client.Close()
	case first[0] == socksVersion:
		p.socks(client)
	case first[0] < ' ': // an older SOCKS, or TLS
		client.Close()
	default:
		_ = client.SetReadDeadline(time.Time{})
		select {
		case p.requests <- client:
		case <-p.ctx.Done():
			client.Close()
		}
	}
}

// track stores a connection that Close has to close. It reports false when the proxy is closed already.
func (p *Proxy) track(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.open[conn] = true
	return true
}

// startRequest counts a request that Close has to wait for. It reports false when the proxy is
// closed already.
func (p *Proxy) startRequest() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.running.Add(1)
	return true
}

// forget is called when a tracked connection has been closed.
func (p *Proxy) forget(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, conn)
}

// clientConn is the connection of a client, which in reads once it is set. Close frees its slot.
type clientConn struct {
	net.Conn
	proxy *Proxy
	in    *bufio.Reader
	once  sync.Once
}

func (c *clientConn) Read(b []byte) (int, error) {
	if c.in == nil {
		return c.Conn.Read(b)
	}
	return c.in.Read(b)
}

func (c *clientConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.proxy.forget(c)
		<-c.proxy.slots
	})
	return err
}

func (c *clientConn) CloseWrite() error { return relay.CloseWrite(c.Conn) }

// httpListener is the listener of the HTTP server: it accepts the connections whose
// clients speak HTTP.
type httpListener struct{ p *Proxy }

func (h *httpListener) Accept() (net.Conn, error) {
	select {
	case conn := <-h.p.requests:
		return conn, nil
	case <-h.p.ctx.Done():
		return nil, net.ErrClosed
	}
}

func (h *httpListener) Close() error   { return nil }
func (h *httpListener) Addr() net.Addr { return h.p.listener.Addr() }

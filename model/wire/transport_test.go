package wire_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"acp-agent/model/wire"
)

// closing is a server that promises to keep a connection and closes it after one answer,
// when the next request is there.
type closing struct {
	mu       sync.Mutex
	requests []string // bodies of the answered requests
	unread   int      // requests that found the connection closed
}

func (c *closing) serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		c.connection(conn)
		_ = conn.Close()
	}
}

func (c *closing) connection(conn net.Conn) {
	in := bufio.NewReader(conn)
	req, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	body, _ := io.ReadAll(req.Body)
	c.mu.Lock()
	c.requests = append(c.requests, string(body))
	c.mu.Unlock()
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=100\r\nContent-Length: 2\r\n\r\nok")
	if _, err := in.Peek(1); err == nil {
		c.mu.Lock()
		c.unread++
		c.mu.Unlock()
	}
}

// TestTransport_ClosedConnection holds that a request which meets a connection that the
// server has closed in this moment is sent again at once, and whole, however much of it the
// server had taken.
func TestTransport_ClosedConnection(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &closing{}
	var served sync.WaitGroup
	served.Go(func() { server.serve(listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		served.Wait()
	})
	transport := wire.NewTransport(nil, func(text string) string { return text })
	t.Cleanup(func() { wire.CloseIdle(transport) })
	sizes := []int{1, 100, 1 << 20, 4 << 20}
	for _, size := range sizes {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String(), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		wire.NewBody(strings.Repeat("x", size)).SendWith(req)
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if _, err := io.ReadAll(res.Body); err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	wire.CloseIdle(transport)
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.requests) != len(sizes) || server.unread != len(sizes)-1 {
		t.Errorf("%d requests were answered, %d met a closed connection; want %d and %d", len(server.requests), server.unread, len(sizes), len(sizes)-1)
	}
	for i, body := range server.requests {
		if len(body) != sizes[i] {
			t.Errorf("the server read %d bytes, want %d", len(body), sizes[i])
		}
	}
}

// TestTransport_NewConnection holds that a server which closes a new connection is not asked
// again: it was the request that it did not like.
func TestTransport_NewConnection(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked.Add(1)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	transport := wire.NewTransport(nil, nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	wire.NewBody("x").SendWith(req)
	if res, err := transport.RoundTrip(req); err == nil {
		wire.CloseBody(res)
		t.Error("no error")
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func dialTo(l net.Listener) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String())
	}
}

func connect(t *testing.T, l net.Listener) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// A client that has said all still gets the answer, and so does a server whose client only
// listens.
func TestServer_HalfClose(t *testing.T) {
	behind := listen(t)
	go func() {
		conn, err := behind.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		said, _ := io.ReadAll(conn) // ends with the client's half
		time.Sleep(50 * time.Millisecond)
		_, _ = io.WriteString(conn, strings.ToUpper(string(said)))
	}()
	front := listen(t)
	s := Serve(front, dialTo(behind))
	defer s.Close()
	conn := connect(t, front)
	_, _ = io.WriteString(conn, "question")
	_ = conn.CloseWrite()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "QUESTION" {
		t.Errorf("%q, %v", got, err)
	}
}

// The other half: a server that has said all still hears the client.
func TestServer_HalfCloseBehind(t *testing.T) {
	behind := listen(t)
	heard := make(chan string, 1)
	go func() {
		conn, err := behind.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "hello")
		_ = conn.(*net.TCPConn).CloseWrite()
		said, _ := io.ReadAll(conn)
		heard <- string(said)
	}()
	front := listen(t)
	s := Serve(front, dialTo(behind))
	defer s.Close()
	conn := connect(t, front)
	if got, err := io.ReadAll(conn); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
	_, _ = io.WriteString(conn, "thanks")
	conn.Close()
	if got := <-heard; got != "thanks" {
		t.Errorf("the server heard %q", got)
	}
}

// Close ends connections that say nothing, one that is still being made, and the port.
func TestServer_Close(t *testing.T) {
	behind := listen(t)
	front := listen(t)
	made := make(chan error, 1)
	var dials atomic.Int32
	begun := make(chan struct{})
	s := Serve(front, func(ctx context.Context) (net.Conn, error) {
		if dials.Add(1) == 1 {
			return dialTo(behind)(ctx)
		}
		close(begun)
		<-ctx.Done()
		made <- ctx.Err()
		return nil, ctx.Err()
	})
	idle := connect(t, front)
	accepted, err := behind.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	connect(t, front)
	<-begun
	s.Close()
	s.Close()
	if err := <-made; !errors.Is(err, context.Canceled) {
		t.Errorf("the connection that was being made: %v", err)
	}
	for _, conn := range []net.Conn{idle, accepted} {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a connection is open")
		}
	}
	if conn, err := net.Dial("tcp", front.Addr().String()); err == nil {
		conn.Close()
		t.Error("the port is open")
	}
}

// No more connections are carried at a time than may be: one more ends the one that was idle longest, which is the
// oldest only where that carried nothing since.
func TestServer_Bound(t *testing.T) {
	behind := listen(t)
	front := listen(t)
	s := Serve(front, dialTo(behind))
	defer s.Close()
	var clients, servers []net.Conn
	join := func() {
		t.Helper()
		clients = append(clients, connect(t, front))
		conn, err := behind.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		servers = append(servers, conn)
	}
	carries := func(i int) bool {
		t.Helper()
		got := make([]byte, 1)
		_, sent := clients[i].Write([]byte("x"))
		_, err := io.ReadFull(servers[i], got)
		return sent == nil && err == nil
	}
	for range maxConnections {
		join()
	}
	if !carries(0) {
		t.Fatal("the first connection does not carry")
	}
	join()
	if _, err := clients[1].Read(make([]byte, 1)); err == nil || carries(1) {
		t.Errorf("the connection that was idle longest goes on: %v", err)
	}
	for _, i := range []int{0, 2, maxConnections - 1, maxConnections} {
		if !carries(i) {
			t.Errorf("connection %d was ended", i)
		}
	}
	clients[5].Close()
	if _, err := servers[5].Read(make([]byte, 1)); err == nil {
		t.Error("the end of a connection is not passed on")
	}
}

// A connection for which there is no server is closed, and the next is carried.
func TestServer_DialFails(t *testing.T) {
	front := listen(t)
	s := Serve(front, func(context.Context) (net.Conn, error) { return nil, errors.New("no server") })
	defer s.Close()
	for range 2 {
		if got, err := io.ReadAll(connect(t, front)); len(got) > 0 {
			t.Errorf("%q, %v", got, err)
		}
	}
}

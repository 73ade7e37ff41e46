package sandbox

import (
	"net"
	"sync"
	"testing"
)

// visits counts the connections that come to a port of this machine.
type visits struct {
	address string

	mu   sync.Mutex
	came *sync.Cond
	from map[string]bool // addresses, of which each is of one connection
}

// listen opens a port and counts what comes to it.
func listen(t *testing.T) (port string, came *visits) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	v := &visits{address: l.Addr().String(), from: map[string]bool{}}
	v.came = sync.NewCond(&v.mu)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			v.mu.Lock()
			v.from[conn.RemoteAddr().String()] = true
			v.came.Broadcast()
			v.mu.Unlock()
			conn.Close()
		}
	}()
	_, port, err = net.SplitHostPort(v.address)
	if err != nil {
		t.Fatal(err)
	}
	return port, v
}

// count returns how many connections have come since the last count, and begins anew. A program may be gone before its
// connection is accepted; the one that count makes comes after all of those.
func (v *visits) count(t *testing.T) int {
	t.Helper()
	last, err := net.Dial("tcp", v.address)
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	v.mu.Lock()
	defer v.mu.Unlock()
	for !v.from[last.LocalAddr().String()] {
		v.came.Wait()
	}
	n := len(v.from) - 1
	clear(v.from)
	return n
}

package network_test

import (
	"context"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"acp-agent/internal/network"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is a Client that ends with the test.
func client(t *testing.T, o network.Options) *network.Client {
	t.Helper()
	c, err := network.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// site is a web server on this machine.
type site struct {
	*httptest.Server
	connections atomic.Int64
	mu          sync.Mutex
	requests    []*http.Request
	bodies      []string
}

func newSite(t *testing.T, handler http.HandlerFunc) *site {
	t.Helper()
	s := unstarted(handler)
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func newTLSSite(t *testing.T, handler http.HandlerFunc) *site {
	t.Helper()
	s := unstarted(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a client that does not trust it is a test
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func unstarted(handler http.HandlerFunc) *site {
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.bodies = append(s.bodies, string(body))
		s.mu.Unlock()
		handler(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	return s
}

// pair is the host:port of the server.
func (s *site) pair() string { return s.Listener.Addr().String() }

// port is the server's port with its colon.
func (s *site) port() string { return strings.TrimPrefix(s.pair(), "127.0.0.1") }

func (s *site) request(i int) *http.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[i]
}

func (s *site) body(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[i]
}

// untouched is a listener that must see no connection.
func untouched(t *testing.T) *net.TCPAddr {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	var accepting sync.WaitGroup
	accepting.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			seen.Add(1)
			conn.Close()
		}
	})
	t.Cleanup(func() {
		// What is connected before this one is accepted before it.
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Error(err)
		} else {
			_, _ = conn.Read(make([]byte, 1)) // ends when it was accepted
			conn.Close()
		}
		l.Close()
		accepting.Wait()
		if n := seen.Load() - 1; n != 0 {
			t.Errorf("%d connections to what is blocked, want none", n)
		}
	})
	return l.Addr().(*net.TCPAddr)
}

// resolver answers the n-th look-up of IPv4 addresses, from 0, with answers(n);
// there are none of IPv6.
func resolver(answers func(n int) []string) *net.Resolver {
	var asked atomic.Int64
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() { // ends when the resolver closes its side
			defer theirs.Close()
			for {
				var size uint16
				if binary.Read(theirs, binary.BigEndian, &size) != nil {
					return
				}
				query := make([]byte, size)
				if _, err := io.ReadFull(theirs, query); err != nil {
					return
				}
				reply := answer(query, func() []string { return answers(int(asked.Add(1) - 1)) })
				if _, err := theirs.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
					return
				}
			}
		}()
		return ours, nil
	}}
}

func answer(query []byte, addresses func() []string) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Header.Response, m.Header.RecursionAvailable, m.Additionals = true, true, nil
	if q.Type == dnsmessage.TypeA {
		for _, address := range addresses() {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()},
			})
		}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

package relay

import (
	"cmp"
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	// maxConnections bounds the connections of one server; a further one ends the one that was idle longest.
	maxConnections = 64
	// acceptPause is how long a server waits after it could not accept, for example because
	// the process had no descriptor left.
	acceptPause = 50 * time.Millisecond
)

// Server carries the connections of a listener.
type Server struct {
	listener net.Listener
	dial     func(context.Context) (net.Conn, error)
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup
	start    time.Time

	mu   sync.Mutex // guards open
	open []*carried // in the order in which they came
}

// Serve joins each connection that l accepts with one that dial makes, until Close. A connection
// for which dial fails is closed. Close closes l, too. The context of dial ends with the connection, and with the server.
func Serve(l net.Listener, dial func(ctx context.Context) (net.Conn, error)) *Server {
	s := &Server{listener: l, dial: dial, start: time.Now()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.running.Go(s.accept)
	return s
}

// Close ends the listener and all connections, and returns when all goroutines of the server have ended. A
// second Close does nothing.
func (s *Server) Close() {
	s.cancel()
	s.listener.Close()
	s.running.Wait()
}

func (s *Server) accept() {
	for {
		client, err := s.listener.Accept()
		if err == nil {
			s.makeRoom()
			s.carry(client)
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		select {
		case <-time.After(acceptPause):
		case <-s.ctx.Done():
			return
		}
	}
}

// makeRoom ends the connection that was idle longest where there are as many as may be: a client that keeps
// connections for later, or that is gone without a word, would keep all others out.
func (s *Server) makeRoom() {
	s.mu.Lock()
	if len(s.open) < maxConnections {
		s.mu.Unlock()
		return
	}
	idlest := slices.MinFunc(s.open, func(a, b *carried) int { return cmp.Compare(a.used.Load(), b.used.Load()) })
	s.mu.Unlock()
	idlest.end()
	<-idlest.ended
}

// carry joins one connection in the background, until it or the server ends.
func (s *Server) carry(client net.Conn) {
	c := newCarried(s.ctx, client, s.start)
	s.mu.Lock()
	s.open = append(s.open, c)
	s.mu.Unlock()
	s.running.Go(func() {
		defer close(c.ended)
		c.join(s.dial)
		s.mu.Lock()
		s.open = slices.DeleteFunc(s.open, func(other *carried) bool { return other == c })
		s.mu.Unlock()
	})
}

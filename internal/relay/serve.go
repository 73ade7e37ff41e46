package relay

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

const (
	// maxConnections bounds the connections of one server; further ones wait to be accepted.
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
}

// Serve joins each connection that l accepts with one that dial makes, until Close. A connection
// for which dial fails is closed. Close closes l, too. The context of dial ends with the server.
func Serve(l net.Listener, dial func(ctx context.Context) (net.Conn, error)) *Server {
	s := &Server{listener: l, dial: dial}
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
	slots := make(chan struct{}, maxConnections)
	for {
		select {
		case slots <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		client, err := s.listener.Accept()
		if err == nil {
			s.running.Go(func() {
				defer func() { <-slots }()
				s.carry(client)
			})
			continue
		}
		<-slots
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

// carry joins one connection, until it or the server ends.
func (s *Server) carry(client net.Conn) {
	defer client.Close()
	server, err := s.dial(s.ctx)
	if err != nil {
		return
	}
	defer server.Close()
	stop := context.AfterFunc(s.ctx, func() {
		client.Close()
		server.Close()
	})
	defer stop()
	Join(client, server, nil)
}

package relay

import (
	"io"
	"net"
	"sync"
)

// Join copies from server to client, while outward carries from client to server; a nil outward copies,
// too. When a direction ends, the half of the connection that it wrote to is closed. When a direction
// fails, both connections are closed. Join returns when both directions have ended; the caller closes
// the connections.
func Join(client, server net.Conn, outward func() error) {
	if outward == nil {
		outward = func() error {
			_, err := io.Copy(server, client)
			return err
		}
	}
	finish := func(err error, to net.Conn) {
		if err == nil {
			_ = CloseWrite(to)
			return
		}
		client.Close()
		server.Close()
	}
	var sending sync.WaitGroup
	sending.Go(func() { finish(outward(), server) })
	_, err := io.Copy(client, server)
	finish(err, client)
	sending.Wait()
}

// CloseWrite ends what is sent on a connection. A connection that cannot close one half is closed.
func CloseWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return conn.Close()
}

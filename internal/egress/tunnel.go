package egress

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"acp-agent/internal/relay"
)

// relay copies between a client and its server until both have sent everything, or one of
// them is gone. in is what the client writes. A TLS handshake for a name that was not judged ends it.
func (p *Proxy) relay(to Destination, client net.Conn, in *bufio.Reader, server net.Conn) {
	if !p.track(server) {
		return
	}
	defer p.forget(server)
	relay.Join(client, server, func() error { return p.copyToServer(to, in, server) })
}

// copyToServer copies what the client writes, after it has checked that this is not a TLS handshake for another
// host.
func (p *Proxy) copyToServer(to Destination, in *bufio.Reader, server net.Conn) error {
	opening, err := checkHello(p.ctx, in, to)
	if err != nil {
		return err
	}
	if _, err := server.Write(opening); err != nil {
		return err
	}
	_, err = io.Copy(server, in)
	return err
}

// errHelloRead ends a handshake once the client's first message has been read.
var errHelloRead = errors.New("the server's name is known")

// checkHello reads the first message of a client that starts a TLS handshake, and returns what it read. From a
// client that speaks something else it reads nothing. The error is a *Refusal when the handshake names another
// server than the judged one, or none although a name was judged.
func checkHello(ctx context.Context, in *bufio.Reader, to Destination) (opening []byte, err error) {
	const handshake, major = 0x16, 0x03
	first, err := in.Peek(1)
	if err != nil || first[0] != handshake {
		return nil, ignoreEOF(err)
	}
	if second, err := in.Peek(2); err != nil || second[1] != major {
		return nil, ignoreEOF(err)
	}
	name, seen := "", false
	from := &helloConn{in: in}
	server := tls.Server(from, &tls.Config{
		MinVersion: tls.VersionTLS10, //nolint:gosec // nothing is ever agreed on
		GetConfigForClient: func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			name, seen = hello.ServerName, true
			return nil, errHelloRead
		},
	})
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err = server.HandshakeContext(ctx)
	if !seen {
		return nil, &Refusal{Reason: fmt.Sprintf("its TLS handshake cannot be read: %v", err)}
	}
	judged := to.Host
	if _, err := netip.ParseAddr(judged); err == nil {
		judged = "" // a handshake names no address
	}
	if !strings.EqualFold(strings.TrimSuffix(name, "."), judged) {
		return nil, &Refusal{Reason: fmt.Sprintf("the TLS handshake names %q", name)}
	}
	return from.read.Bytes(), nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// helloConn is a connection for crypto/tls that keeps what is read and drops what is written.
type helloConn struct {
	in   *bufio.Reader
	read bytes.Buffer
}

func (c *helloConn) Read(b []byte) (int, error) {
	n, err := c.in.Read(b)
	c.read.Write(b[:n])
	return n, err
}

func (*helloConn) Write(b []byte) (int, error)      { return len(b), nil }
func (*helloConn) Close() error                     { return nil }
func (*helloConn) LocalAddr() net.Addr              { return nil }
func (*helloConn) RemoteAddr() net.Addr             { return nil }
func (*helloConn) SetDeadline(time.Time) error      { return nil }
func (*helloConn) SetReadDeadline(time.Time) error  { return nil }
func (*helloConn) SetWriteDeadline(time.Time) error { return nil }

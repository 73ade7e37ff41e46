package egress

import (
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"time"
)

// RFC 1928 and RFC 1929.
const (
	socksVersion    = 5
	socksAuth       = 1 // version of the exchange of a password
	methodNone      = 0
	methodPassword  = 2
	methodsRefused  = 0xff
	commandConnect  = 1
	addressIPv4     = 1
	addressName     = 3
	addressIPv6     = 4
	replyDone       = 0
	replyFailed     = 1
	replyForbidden  = 2
	replyHost       = 4
	replyNoCommand  = 7
	replyNoAddress  = 8
	replyBoundBytes = 6 // an IPv4 address and a port, which mean nothing here
)

// errSocks ends a connection whose client does not follow the protocol.
var errSocks = errors.New("the client does not speak SOCKS 5")

// socks serves a client that speaks SOCKS 5: CONNECT, and nothing else.
func (p *Proxy) socks(client *clientConn) {
	defer client.Close()
	if p.socksGreeting(client) != nil {
		return
	}
	to, reply, err := socksRequest(client)
	if err != nil {
		if reply != 0 {
			socksReply(client, reply)
		}
		return
	}
	_ = client.SetReadDeadline(time.Time{})
	server, err := p.connect(p.ctx, to)
	if err != nil {
		reply := byte(replyHost)
		if _, refused := errors.AsType[*Refusal](err); refused {
			reply = replyForbidden
		}
		socksReply(client, reply)
		return
	}
	defer server.Close()
	if socksReply(client, replyDone) != nil {
		return
	}
	p.relay(to, client, client.in, server)
}

// socksGreeting agrees on a method and checks the credential.
func (p *Proxy) socksGreeting(client *clientConn) error {
	head, err := read(client, 2)
	if err != nil {
		return err
	}
	methods, err := read(client, int(head[1]))
	if err != nil {
		return err
	}
	method := byte(methodNone)
	if p.o.Credential != "" {
		method = methodPassword
	}
	for _, offered := range methods {
		if offered != method {
			continue
		}
		if _, err := client.Write([]byte{socksVersion, method}); err != nil || method == methodNone {
			return err
		}
		return p.socksPassword(client)
	}
	_, _ = client.Write([]byte{socksVersion, methodsRefused})
	return errSocks
}

// socksPassword checks the credential.
func (p *Proxy) socksPassword(client *clientConn) error {
	var parts [2][]byte
	version, err := read(client, 1)
	if err != nil || version[0] != socksAuth {
		return errSocks
	}
	for i := range parts {
		size, err := read(client, 1)
		if err != nil {
			return err
		}
		if parts[i], err = read(client, int(size[0])); err != nil {
			return err
		}
	}
	if !p.isCredential(string(parts[0]) + ":" + string(parts[1])) {
		_, _ = client.Write([]byte{socksAuth, replyFailed})
		return errSocks
	}
	_, err = client.Write([]byte{socksAuth, replyDone})
	return err
}

// socksRequest reads the destination that the client asks for. With an error, reply is the code to answer with; 0
// for no answer.
func socksRequest(client *clientConn) (to Destination, reply byte, err error) {
	head, err := read(client, 4)
	switch {
	case err != nil:
		return to, 0, err
	case head[0] != socksVersion:
		return to, 0, errSocks
	case head[1] != commandConnect:
		return to, replyNoCommand, errSocks
	}
	var host string
	switch head[3] {
	case addressIPv4, addressIPv6:
		size := 4
		if head[3] == addressIPv6 {
			size = 16
		}
		raw, err := read(client, size)
		if err != nil {
			return to, 0, err
		}
		addr, _ := netip.AddrFromSlice(raw)
		host = addr.Unmap().String()
	case addressName:
		size, err := read(client, 1)
		if err != nil {
			return to, 0, err
		}
		name, err := read(client, int(size[0]))
		if err != nil {
			return to, 0, err
		}
		host = string(name)
	default:
		return to, replyNoAddress, errSocks
	}
	port, err := read(client, 2)
	if err != nil {
		return to, 0, err
	}
	number := binary.BigEndian.Uint16(port)
	if number == 0 {
		return to, replyForbidden, errSocks
	}
	if to, err = newDestination(host, number); err != nil {
		return to, replyForbidden, err
	}
	return to, 0, nil
}

func socksReply(client *clientConn, code byte) error {
	_, err := client.Write(append([]byte{socksVersion, code, 0, addressIPv4}, make([]byte, replyBoundBytes)...))
	return err
}

func read(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return b, err
}

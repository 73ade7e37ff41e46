package network

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// Dial connects like a request would, but to any port.
func (c *Client) Dial(ctx context.Context, pair string) (net.Conn, error) {
	return c.dialer.dial(ctx, "tcp", pair)
}

// OnConnect lets a test see each address that passed, and stop before connect.
func (c *Client) OnConnect(f func(netip.AddrPort) error) { c.dialer.connecting = f }

// RefusedByDialer reports a refusal of the address that was to be connected.
func RefusedByDialer(err error) bool {
	_, ok := errors.AsType[*addressError](err)
	return ok
}

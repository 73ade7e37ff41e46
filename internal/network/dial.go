package network

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// addressError refuses an address that is not public.
type addressError struct {
	addr   netip.Addr
	reason string
}

func (e *addressError) Error() string {
	return fmt.Sprintf("%s is not a public address (%s)", e.addr, e.reason)
}

// judgeHost judges a host that is an IP address; a name passes.
func judgeHost(host string) error {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	if reason := Judge(addr); reason != "" {
		return &addressError{addr, reason}
	}
	return nil
}

// dialer makes the connections. It is the one place that cannot be passed by.
type dialer struct {
	grants   grants
	resolver *net.Resolver
	// connecting, when set, sees each address that passed; for tests.
	connecting func(netip.AddrPort) error
}

// dial connects to a pair in normal form. Of a granted one any address will do;
// of another each address is judged on its way to connect.
func (d *dialer) dial(ctx context.Context, network, pair string) (net.Conn, error) {
	dialer := net.Dialer{Resolver: d.resolver, ControlContext: d.control}
	if d.grants[pair] {
		dialer.ControlContext = nil
	}
	return dialer.DialContext(ctx, network, pair)
}

// control runs between the look-up and connect, for each address tried (N3).
func (d *dialer) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("judge %q: %w", address, err)
	}
	if reason := Judge(to.Addr()); reason != "" {
		return &addressError{to.Addr(), reason}
	}
	if d.connecting != nil {
		return d.connecting(to)
	}
	return nil
}

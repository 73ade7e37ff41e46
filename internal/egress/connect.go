package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"acp-agent/internal/network"
)

// connect judges a destination, looks it up and connects to it. A server on the clients' own loopback address is
// not judged.
func (p *Proxy) connect(ctx context.Context, to Destination) (net.Conn, error) {
	if p.o.Inside != nil && to.loopback() {
		if conn, err := p.o.Inside(ctx, int(to.Port)); err == nil {
			return conn, nil
		}
	}
	// With the context of the proxy, so that the answer is not lost when the client gives up.
	if err := p.o.Judge(p.ctx, to); err != nil {
		return nil, err
	}
	var proxy *url.URL
	if p.o.Upstream != nil {
		proxy = p.o.Upstream(to)
	}
	addrs, err := p.addresses(ctx, to, proxy != nil)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, addr := range addrs {
		private := network.Judge(addr)
		switch {
		case private == "" && proxy != nil:
			continue // below, the user's proxy connects to it by name
		case private != "" && to.Private == "":
			// Only now is it known that the name leads to an address that is not public.
			found := to
			found.Addr, found.Private = addr, private
			if err := p.o.Judge(p.ctx, found); err != nil {
				return nil, err
			}
		}
		conn, err := p.o.Dial(ctx, netip.AddrPortFrom(addr, to.Port))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	if failed == nil && proxy != nil {
		return dialUpstream(ctx, proxy, to.Pair())
	}
	return nil, failed
}

// addresses returns the addresses of a destination that passed. Of a name with public and other addresses only the
// public ones count: such a name may have been made to reach the others. Names of this machine are not looked
// up, because a name server could answer with something else. With upstream set, a name that cannot be looked up
// has no addresses: the user's proxy may be the only one that can look it up.
func (p *Proxy) addresses(ctx context.Context, to Destination, upstream bool) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(to.Host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if to.loopback() {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	if upstream {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, upstreamLookUp)
		defer cancel()
	}
	found, err := p.o.LookUp(ctx, to.Host)
	if err != nil {
		if upstream {
			return nil, nil
		}
		if lookup, ok := errors.AsType[*net.DNSError](err); ok {
			return nil, fmt.Errorf("look up %s: %s", to.Host, lookup.Err) // its own text names the resolver
		}
		return nil, fmt.Errorf("look up %s: %w", to.Host, err)
	}
	var public []netip.Addr
	for i, addr := range found {
		found[i] = addr.Unmap()
		if network.Judge(addr) == "" {
			public = append(public, found[i])
		}
	}
	if len(public) > 0 {
		return public, nil
	}
	return found, nil
}

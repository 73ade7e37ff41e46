package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"acp-agent/internal/network"
)

// connect judges a destination, looks it up and connects to it.
func (p *Proxy) connect(ctx context.Context, to Destination) (net.Conn, error) {
	if p.o.Inside != nil && to.loopback() {
		if conn, err := p.o.Inside(int(to.Port)); err == nil {
			return conn, nil
		}
	}
	// The judge's answer counts also when the client has gone.
	if err := p.o.Judge(p.ctx, to); err != nil {
		return nil, err
	}
	addrs, err := p.addresses(ctx, to)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, addr := range addrs {
		conn, err := p.o.Dial(ctx, netip.AddrPortFrom(addr, to.Port))
		if err == nil {
			return conn, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

// addresses returns the addresses of a destination that passed. Where public and other
// addresses stand beside each other, only the public ones count: a name that has both may
// have been made to reach the others.
func (p *Proxy) addresses(ctx context.Context, to Destination) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(to.Host); err == nil {
		return []netip.Addr{addr}, nil
	}
	found, err := p.o.LookUp(ctx, to.Host)
	if err != nil {
		if lookup, ok := errors.AsType[*net.DNSError](err); ok {
			return nil, fmt.Errorf("look up %s: %s", to.Host, lookup.Err) // its own text names the resolver
		}
		return nil, fmt.Errorf("look up %s: %w", to.Host, err)
	}
	var public []netip.Addr
	reason := ""
	for i, addr := range found {
		found[i] = addr.Unmap()
		if why := network.Judge(addr); why == "" {
			public = append(public, found[i])
		} else if reason == "" {
			to.Addr, reason = found[i], why
		}
	}
	switch {
	case len(public) > 0 && to.Private == "":
		return public, nil
	case to.Private != "":
		return found, nil // judged as what it is already
	}
	to.Private = reason
	if err := p.o.Judge(p.ctx, to); err != nil {
		return nil, err
	}
	return found, nil
}

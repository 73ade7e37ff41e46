package egress

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"acp-agent/internal/network"
)

// Destination is a host and port that a client asks for.
type Destination struct {
	// Host is a name in ASCII and lower case, or an IP address in its usual spelling
	// without brackets.
	Host string
	Port uint16
	// Private says why the host is not on the public web; "" when it is, or when that is not known because
	// the name has not been looked up.
	Private string
	// Addr is the address to which a name leads, where Private says that it is not
	// public.
	Addr netip.Addr
}

// loopback reports whether the host is the loopback address of the client that names it. A name
// is private by its text alone when it is localhost or ends in it.
func (d Destination) loopback() bool {
	addr, err := netip.ParseAddr(d.Host)
	if err != nil {
		return d.Private != ""
	}
	return addr.IsLoopback()
}

// Pair is host:port, with brackets around an IPv6 address.
func (d Destination) Pair() string { return net.JoinHostPort(d.Host, strconv.Itoa(int(d.Port))) }

// newDestination reads a host. Private is set where its text alone says that it is not public.
func newDestination(host string, port uint16) (Destination, error) {
	normal, err := network.NormalHost(host)
	if err != nil {
		return Destination{}, fmt.Errorf("%q: %w", host, err)
	}
	d := Destination{Host: normal, Port: port}
	if addr, err := netip.ParseAddr(normal); err == nil {
		d.Private = network.Judge(addr)
	} else if normal == "localhost" || strings.HasSuffix(normal, ".localhost") {
		d.Private = "this machine"
	}
	return d, nil
}

// NamesAddress reports whether a host, with or without its port, is an IP address or a name of
// this machine, and not a name that is looked up.
func NamesAddress(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	d, err := newDestination(strings.Trim(host, "[]"), 0)
	if err != nil || d.Private != "" {
		return true
	}
	_, err = netip.ParseAddr(d.Host)
	return err == nil
}

// parsePair reads host:port.
func parsePair(pair string) (Destination, error) {
	host, port, err := net.SplitHostPort(pair)
	if err != nil {
		return Destination{}, fmt.Errorf("%q is not host:port", pair)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return Destination{}, fmt.Errorf("port %q is not a number from 1 to 65535", port)
	}
	return newDestination(host, uint16(number))
}

// Refusal is the error of a judge that does not let a connection through.
type Refusal struct {
	// Reason completes "the network is closed for example.com:443: ...".
	Reason string
}

// Error is the reason.
func (r *Refusal) Error() string { return r.Reason }

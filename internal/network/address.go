package network

import "net/netip"

// special are the ranges that net/netip calls global although no one on the
// public web is there (N3), with what they are for.
var special = []struct {
	prefix netip.Prefix
	why    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a provider's customers"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay of 6to4"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("168.63.129.16/32"), "the service of a cloud host"},
	{netip.MustParsePrefix("::/96"), "an embedded IPv4 address"},
	{netip.MustParsePrefix("64:ff9b:1::/48"), "a local translation to IPv4"},
	{netip.MustParsePrefix("100::/64"), "a sink"},
	{netip.MustParsePrefix("2001::/23"), "reserved for protocols, such as Teredo"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
	{netip.MustParsePrefix("fec0::/10"), "site-local"},
}

var (
	// translated and sixToFour hold an IPv4 address to which they lead.
	translated = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	// unicast is all of IPv6 that is given out for the public web.
	unicast = netip.MustParsePrefix("2000::/3")
)

// Judge says why an address is not one of the public web, "" when it is (N3).
// A zone is ignored, and an IPv4 address within an IPv6 one is judged itself.
func Judge(addr netip.Addr) (reason string) {
	addr = addr.WithZone("").Unmap()
	if !addr.IsValid() {
		return "invalid"
	}
	switch {
	case translated.Contains(addr):
		raw := addr.As16()
		return Judge(netip.AddrFrom4([4]byte(raw[12:16])))
	case sixToFour.Contains(addr):
		raw := addr.As16()
		return Judge(netip.AddrFrom4([4]byte(raw[2:6])))
	case addr.IsLoopback():
		return "loopback"
	case addr.IsPrivate():
		return "private"
	}
	for _, s := range special {
		if s.prefix.Contains(addr) {
			return s.why
		}
	}
	switch {
	case !addr.IsGlobalUnicast():
		return "link-local, multicast or unspecified"
	case addr.Is6() && !unicast.Contains(addr):
		return "not given out for the public web"
	}
	return ""
}

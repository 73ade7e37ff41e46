package network_test

import (
	"net/netip"
	"testing"

	"acp-agent/internal/network"
)

func TestJudge_Blocked(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, first, last string }{
		{"this network", "0.0.0.0", "0.255.255.255"},
		{"private 10", "10.0.0.0", "10.255.255.255"},
		{"shared", "100.64.0.0", "100.127.255.255"},
		{"loopback", "127.0.0.0", "127.255.255.255"},
		{"link-local", "169.254.0.0", "169.254.255.255"},
		{"cloud metadata", "169.254.169.254", "100.100.100.200"},
		{"private 172", "172.16.0.0", "172.31.255.255"},
		{"protocols", "192.0.0.0", "192.0.0.255"},
		{"documentation 1", "192.0.2.0", "192.0.2.255"},
		{"relay of 6to4", "192.88.99.0", "192.88.99.255"},
		{"private 192", "192.168.0.0", "192.168.255.255"},
		{"benchmarks", "198.18.0.0", "198.19.255.255"},
		{"documentation 2", "198.51.100.0", "198.51.100.255"},
		{"documentation 3", "203.0.113.0", "203.0.113.255"},
		{"multicast", "224.0.0.0", "239.255.255.255"},
		{"reserved", "240.0.0.0", "255.255.255.255"},
		{"cloud host", "168.63.129.16", "168.63.129.16"},
		{"unspecified and embedded", "::", "::ffff:ffff"},
		{"loopback of version 6", "::1", "::1"},
		{"mapped private", "::ffff:10.0.0.1", "::ffff:127.0.0.1"},
		{"mapped metadata", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe"},
		{"translated form", "::ffff:0:7f00:1", "::ffff:0:8.8.8.8"},
		{"NAT64 to private", "64:ff9b::10.0.0.1", "64:ff9b::7f00:1"},
		{"NAT64 to metadata", "64:ff9b::169.254.169.254", "64:ff9b::a9fe:a9fe"},
		{"local NAT64", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"},
		{"sink", "100::", "100::ffff:ffff:ffff:ffff"},
		{"protocols and Teredo", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"documentation of version 6", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"newer documentation", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"6to4 to loopback", "2002:7f00:1::", "2002:7f00:1:ffff::1"},
		{"6to4 to private", "2002:a00:1::", "2002:c0a8:101::1"},
		{"segment routing", "5f00::", "5f00:ffff::1"},
		{"unique local", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"cloud metadata of version 6", "fd00:ec2::254", "fd00:ec2::254"},
		{"link-local of version 6", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"with a zone", "fe80::1%eth0", "::1%lo"},
		{"mapped with a zone", "::ffff:127.0.0.1%eth0", "::ffff:10.0.0.1%1"},
		{"documentation with a zone", "2001:db8::1%eth0", "fec0::1%eth0"},
		{"site-local", "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
		{"multicast of version 6", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{tt.first, tt.last} {
				if network.Judge(netip.MustParseAddr(text)) == "" {
					t.Errorf("Judge(%s) lets it pass", text)
				}
			}
		})
	}
	if network.Judge(netip.Addr{}) == "" {
		t.Error("Judge lets no address at all pass")
	}
}

// The neighbours of what is blocked are public: a rule that blocks too much
// would not be noticed otherwise.
func TestJudge_Public(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255",
		"192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0",
		"203.0.112.255", "203.0.114.0", "223.255.255.255", "168.63.129.15", "168.63.129.17",
		"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:200::1", "2001:4860:4860::8888", "2001:db9::1",
		"2000::1", "2606:4700::1111", "3ffe:ffff::1",
	} {
		if reason := network.Judge(netip.MustParseAddr(text)); reason != "" {
			t.Errorf("Judge(%s) = %q, want it public", text, reason)
		}
	}
}

package permissions

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// webPort is the port that the name of a destination leaves out.
const webPort = "443"

var errNoHost = errors.New("expects a host, such as example.com, *.example.com or 127.0.0.1:8080")

// HostPattern reads a host as rules of NetworkTool name it: "example.com", "*.example.com",
// "example.com:8080", an IP address, or "*" for all of the public web. The form that it returns is
// the one that destinations are compared with, without the port of https.
func HostPattern(text string) (pattern string, err error) {
	host, port := text, ""
	if strings.HasPrefix(text, "[") || strings.Count(text, ":") == 1 {
		if host, port, err = net.SplitHostPort(text); err != nil {
			return "", errNoHost
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' {
			return "", errNoHost
		}
	}
	if addr, err := netip.ParseAddr(host); err == nil && addr.Zone() == "" {
		host = addr.Unmap().String()
	} else if !hostName(strings.TrimPrefix(host, "*.")) && (host != "*" || port != "") {
		return "", errNoHost
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if port == "" || port == webPort {
		return host, nil
	}
	return net.JoinHostPort(host, port), nil
}

// hostName reports whether a text is the name of a host in ASCII.
func hostName(text string) bool {
	for label := range strings.SplitSeq(strings.TrimSuffix(text, "."), ".") {
		if label == "" {
			return false
		}
		for _, c := range []byte(label) {
			if c != '-' && !wordByte(c) || c >= 0x80 {
				return false
			}
		}
	}
	return true
}

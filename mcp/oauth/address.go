package oauth

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"acp-agent/internal/network"
)

const (
	// maxAddress bounds an address that a server names, in bytes.
	maxAddress = 8 << 10
	// maxName bounds the name of its host, in bytes, as DNS does.
	maxName = 254
)

// Shown is the host of an address that a server names, as a user is shown it, who may then
// open it. It must be https, or where local says that the server is on this machine, http of
// this machine; and what a user would take for another address is refused.
func Shown(address string, local bool) (host string, err error) {
	foreign := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("<>\"`\\", r) }
	u, err := url.Parse(address)
	switch {
	case err != nil || u.User != nil || len(address) > maxAddress || strings.ContainsFunc(address, foreign) || !legible(u):
		return "", errors.New("the server names an address that cannot be used")
	case u.Scheme == "https", u.Scheme == "http" && local && loopback(u.Hostname()):
		return u.Host, nil
	}
	return "", fmt.Errorf("the server names an address that is not https, at %s", word(u.Host))
}

// legible reports whether the host of an address is shown as a browser takes it: names in
// plain letters, for what stands there as %D0%B0 is another letter once it is read, or an IP
// address.
func legible(u *url.URL) bool {
	name := u.Hostname()
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Zone() == ""
	}
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	}
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, odd)
}

// Local reports whether an address is of this machine, by its text.
func Local(address string) bool {
	u, err := url.Parse(address)
	return err == nil && loopback(u.Hostname())
}

// judge refuses an address to which nothing must be sent.
func (a *Account) judge(address string) error {
	_, err := Shown(address, loopback(a.server.Hostname()))
	return err
}

// loopback reports whether a host is this machine by its text.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// private reports whether a host is not public by its text.
func private(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && network.Judge(addr) != "" || loopback(host)
}

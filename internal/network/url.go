package network

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	// maxURL bounds an address, in bytes (N1).
	maxURL = 2048
	// maxHost and maxLabel bound a name and its labels, in bytes (RFC 1035).
	maxHost, maxLabel = 253, 63
)

// Target is an address of the web in its normal form.
type Target struct {
	// Scheme is "http" or "https".
	Scheme string
	// Host is a name in ASCII and lower case without a final dot, or an IP
	// address in its usual spelling, without brackets.
	Host string
	Port uint16

	path string
}

// Parse reads an address and gives it its normal form (N1, N2). It looks nothing
// up. Ports and addresses that are not public pass; see [Client.Do]. The error is
// a *BlockedError.
func Parse(raw string) (Target, error) {
	shown := redact(raw)
	refuse := func(reason string) (Target, error) { return Target{}, &BlockedError{URL: shown, Reason: reason} }
	if len(raw) > maxURL {
		return refuse("it is longer than 2048 characters")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return refuse("it is not a valid address")
	case u.Scheme != "http" && u.Scheme != "https":
		return refuse("it must begin with http:// or https://")
	case u.User != nil:
		return refuse("it must not hold a user name or password")
	case u.Opaque != "" || u.Hostname() == "":
		return refuse("it names no host")
	}
	host, reason := normalHost(u)
	if reason != "" {
		return refuse(reason)
	}
	t := Target{Scheme: u.Scheme, Host: host, Port: 80}
	if u.Scheme == "https" {
		t.Port = 443
	}
	if given := u.Port(); given != "" {
		port, err := strconv.ParseUint(given, 10, 16)
		if err != nil || port == 0 {
			return refuse("its port is no number from 1 to 65535")
		}
		t.Port = uint16(port)
	}
	t.path = (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: escapeQuery(u.RawQuery), ForceQuery: u.ForceQuery}).RequestURI()
	if len(t.String()) > maxURL {
		return refuse("it is longer than 2048 characters")
	}
	return t, nil
}

// String is the address as it is asked for, without a fragment.
func (t Target) String() string { return t.origin() + t.path }

// Pair is the host and port, as a grant names them.
func (t Target) Pair() string { return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port))) }

// origin is what credentials may be sent to.
func (t Target) origin() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.Scheme == "http" && t.Port != 80 || t.Scheme == "https" && t.Port != 443 {
		host += ":" + strconv.Itoa(int(t.Port))
	}
	return t.Scheme + "://" + host
}

// shown is the address without its query, which may hold a key, for messages.
func (t Target) shown() string {
	path, _, _ := strings.Cut(t.path, "?")
	return t.origin() + path
}

// NormalHost gives a host that stands alone its normal form (N2): a name in ASCII and lower
// case, or an IP address in its usual spelling. An IPv6 address has no brackets. The
// error says why the text is not a host. It looks nothing up.
func NormalHost(text string) (string, error) {
	if strings.Contains(text, ":") {
		text = "[" + text + "]"
	}
	host, reason := normalHost(&url.URL{Host: text})
	if reason != "" {
		return "", errors.New(reason)
	}
	return host, nil
}

// normalHost gives the host of an address its normal form, or says why not.
func normalHost(u *url.URL) (host, reason string) {
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(u.Hostname())
		switch {
		case err != nil || !addr.Is6():
			return "", "its host is no valid IPv6 address"
		case addr.Zone() != "":
			return "", "an address with a zone is one of this machine's own networks"
		}
		return addr.Unmap().String(), ""
	}
	return normalName(u.Hostname())
}

// normalName is normalHost for a name or an IPv4 address.
func normalName(name string) (host, reason string) {
	const noHost = "its host is no valid name"
	if !isASCII(name) || strings.Contains(strings.ToLower(name), "xn--") {
		// Hyphens and underscores are used more freely than the standard likes.
		profile := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false), idna.CheckHyphens(false))
		ascii, err := profile.ToASCII(name)
		if err != nil || !utf8.ValidString(name) {
			return "", noHost
		}
		// What the result would be read as must be the result.
		if again, err := profile.ToASCII(ascii); err != nil || again != ascii {
			return "", noHost
		}
		name = ascii
	}
	host = strings.TrimSuffix(strings.ToLower(name), ".")
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is4() {
		return host, ""
	}
	labels := strings.Split(host, ".")
	if len(host) > maxHost {
		return "", noHost
	}
	for _, label := range labels {
		if label == "" || len(label) > maxLabel || strings.Trim(label, nameLetters) != "" {
			return "", noHost
		}
	}
	if isNumber(labels[len(labels)-1]) {
		return "", "its host is an IP address in an unusual spelling; write it as four decimal numbers"
	}
	return host, ""
}

// Readable is a host in its normal form as people write it: labels of other scripts are
// shown in them.
func Readable(host string) string {
	if !strings.Contains(host, "xn--") {
		return host
	}
	readable, err := idna.ToUnicode(host)
	if err != nil {
		return host
	}
	return readable
}

const nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-_"

// isNumber reports a label that address parsers of other programs read as a
// number: decimal, octal or hexadecimal. No name of the web ends in one.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// escapeQuery escapes what no request line may hold; net/url leaves a query as
// it was written.
func escapeQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// redact makes an address that could not be read fit for a message: without
// what may be a user name or a password, a query and a fragment, and not too long.
func redact(raw string) string {
	raw, _, _ = strings.Cut(raw, "#")
	raw, _, _ = strings.Cut(raw, "?")
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		raw = "..." + raw[at:]
	}
	const most = 200
	if len(raw) > most {
		raw = raw[:most] + "..."
	}
	return strings.ToValidUTF8(raw, "\ufffd")
}

package network

import (
	"fmt"
	"net"
	"strings"
)

// ParseGrant reads a host:port pair of the user's own configuration, such as
// "localhost:8080" or "[fd00::1]:443", and returns it in its normal form. It is
// one host and one port: there are no patterns.
func ParseGrant(text string) (pair string, err error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || port == "" || strings.ContainsAny(text, "/?#@% ") {
		return "", fmt.Errorf("%q: must be one host and port, such as localhost:8080", text)
	}
	t, err := Parse("http://" + text + "/")
	if err != nil {
		return "", fmt.Errorf("%q: must be one host and port, such as localhost:8080: %w", text, err)
	}
	return t.Pair(), nil
}

// grants are the pairs that may be private and have any port, in normal form.
type grants map[string]bool

func newGrants(pairs []string) (grants, error) {
	g := make(grants, len(pairs))
	for _, text := range pairs {
		pair, err := ParseGrant(text)
		if err != nil {
			return nil, fmt.Errorf("grant %w", err)
		}
		g[pair] = true
	}
	return g, nil
}

// judge refuses what can be told by the text alone: a port, an address that is
// not public, a name of this machine. What a name leads to is judged when it is
// dialed.
func (g grants) judge(t Target) error {
	switch {
	case g[t.Pair()]:
		return nil
	case t.Port != 80 && t.Port != 443:
		return t.blocked(fmt.Sprintf("port %d is neither 80 nor 443", t.Port), true)
	case t.Host == "localhost" || strings.HasSuffix(t.Host, ".localhost"):
		return t.blocked("it is this machine, not a public address", true)
	}
	if err := judgeHost(t.Host); err != nil {
		return t.blocked(err.Error(), true)
	}
	return nil
}

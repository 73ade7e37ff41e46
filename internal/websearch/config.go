package websearch

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// The types of providers.
const (
	SearXNG  = "searxng"
	Brave    = "brave"
	Tavily   = "tavily"
	Scripted = "scripted"
)

// Config describes one provider.
type Config struct {
	// Type is one of the types above.
	Type string
	// URL is the base of a SearXNG instance, such as "http://localhost:8888". For a
	// hosted provider it replaces the provider's own address; empty means that address.
	URL string
	// Key is the key of a hosted provider.
	Key string
	// File is the script of a scripted provider.
	File string
}

// The documented addresses of the hosted providers.
const (
	braveURL  = "https://api.search.brave.com/res/v1/web/search"
	tavilyURL = "https://api.tavily.com/search"
)

// New makes a provider. What a type does not use must not be given, so that no
// setting is silently ignored.
func New(c Config) (Provider, error) {
	switch c.Type {
	case SearXNG:
		return newSearXNG(c)
	case Brave, Tavily:
		return newHosted(c)
	case Scripted:
		return newScripted(c)
	}
	return nil, fmt.Errorf("search provider %q: the types are %s, %s, %s and %s", c.Type, SearXNG, Brave, Tavily, Scripted)
}

func newSearXNG(c Config) (Provider, error) {
	if c.Key != "" || c.File != "" {
		return nil, fmt.Errorf("search provider %s: has a url, no key and no file", c.Type)
	}
	base, err := parseBase(c)
	if err != nil {
		return nil, err
	}
	return searxng{base.JoinPath("search")}, nil
}

func newHosted(c Config) (Provider, error) {
	switch {
	case c.File != "":
		return nil, fmt.Errorf("search provider %s: has no file", c.Type)
	case c.Key == "" || strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, fmt.Errorf("search provider %s: key is missing, or holds characters that no key has", c.Type)
	}
	own := braveURL
	if c.Type == Tavily {
		own = tavilyURL
	}
	c.URL = cmp.Or(c.URL, own)
	base, err := parseBase(c)
	if err != nil {
		return nil, err
	}
	if base.Scheme != "https" && !loopback(base.Hostname()) {
		return nil, fmt.Errorf("search provider %s: url must be https, or the key could be read on its way", c.Type)
	}
	if c.Type == Tavily {
		return keyless{tavily{base, c.Key}, c.Key}, nil
	}
	return keyless{brave{base, c.Key}, c.Key}, nil
}

// parseBase reads the URL of a provider. The URL itself is in no error: it could
// hold a password.
func parseBase(c Config) (*url.URL, error) {
	base, err := url.Parse(c.URL)
	switch {
	case err != nil || base.Hostname() == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, fmt.Errorf("search provider %s: url must be an http or https address", c.Type)
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("search provider %s: url must have no user, query or fragment", c.Type)
	}
	return base, nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// endpoint is the host and port of an address.
func endpoint(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// with is an address with a query.
func with(u *url.URL, query url.Values) string {
	full := *u
	full.RawQuery = query.Encode()
	return full.String()
}

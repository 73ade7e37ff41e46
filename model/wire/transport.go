package wire

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"acp-agent/model"
)

// ParseBase reads the address of a model server.
func ParseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		var bad *url.Error
		if errors.As(err, &bad) {
			err = bad.Err // the text may hold a secret
		}
		return nil, fmt.Errorf("base URL: %w", err)
	case base.Scheme != "http" && base.Scheme != "https", base.Hostname() == "":
		return nil, fmt.Errorf("base URL %q: want http://host/v1 or https://host/v1", base.Redacted())
	case base.User != nil:
		return nil, fmt.Errorf("base URL %q: must not hold a user or password; set the key or a header instead", base.Redacted())
	}
	base.Fragment = ""
	return base, nil
}

// IsLocal reports whether host names this machine or a private network.
func IsLocal(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback() || addr.IsPrivate() || addr.IsUnspecified() || addr.IsLinkLocalUnicast()
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "localhost" || host == "host.docker.internal" ||
		strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local")
}

// Carrier returns what carries requests to model servers over the network.
func Carrier() http.RoundTripper {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: 10 * time.Second,
		// Many sessions stream at once; the default of two would dial anew for
		// nearly every step.
		MaxIdleConns: 64, MaxIdleConnsPerHost: 64, IdleConnTimeout: 90 * time.Second,
		// A compressed event stream arrives in lumps.
		DisableCompression:     true,
		MaxResponseHeaderBytes: 1 << 20,
	}
}

// CheckRedirect keeps requests, and with them the key, on the host that was
// configured.
func CheckRedirect(req *http.Request, via []*http.Request) error {
	first := via[0]
	target := req.URL.Scheme + "://" + req.URL.Host
	switch {
	case req.URL.Host != first.URL.Host || req.URL.Scheme != first.URL.Scheme:
		return &model.Error{
			Kind: model.Invalid, Status: req.Response.StatusCode,
			Message: fmt.Sprintf("the model server redirects to another host, %s; refused to send the request there", target),
			Hint:    "set the base URL to that host if you trust it",
		}
	case req.Method != first.Method:
		return &model.Error{
			Kind: model.Invalid, Status: req.Response.StatusCode,
			Message: fmt.Sprintf("the model server redirects %s to %s", first.URL.Path, req.URL.Path), Hint: "check the base URL",
		}
	case len(via) > 3:
		return errors.New("too many redirects")
	}
	return nil
}

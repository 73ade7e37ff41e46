package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"acp-agent/internal/relay"
)

// upstreamLookUp bounds the look-up of a name that the user's proxy looks up as well.
const upstreamLookUp = 5 * time.Second

// Upstream returns the user's proxy through which a host is reached; nil where there is none.
type Upstream func(to Destination) *url.URL

// UpstreamFrom reads the user's environment: HTTPS_PROXY, or HTTP_PROXY if only that is set, and NO_PROXY, as
// other programs understand them. It returns nil when no proxy is named.
func UpstreamFrom(environ []string) Upstream {
	values := map[string]string{}
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok {
			values[name] = value
		}
	}
	first := func(names ...string) string {
		for _, name := range names {
			if values[name] != "" {
				return values[name]
			}
		}
		return ""
	}
	// Every connection uses CONNECT, so the proxy for https counts.
	config := httpproxy.Config{
		HTTPSProxy: first("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"), NoProxy: first("NO_PROXY", "no_proxy"),
	}
	if config.HTTPSProxy == "" {
		return nil
	}
	choose := config.ProxyFunc()
	return func(to Destination) *url.URL {
		proxy, err := choose(&url.URL{Scheme: "https", Host: to.Pair()})
		if err != nil {
			return nil
		}
		return proxy
	}
}

// dialUpstream asks the user's proxy to connect to a host that passed, by its name, which that proxy may be the
// only one to look up.
func dialUpstream(ctx context.Context, proxy *url.URL, pair string) (net.Conn, error) {
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	}
	if port == "" || proxy.Scheme != "http" && proxy.Scheme != "https" {
		return nil, fmt.Errorf("your proxy %s is neither http nor https", proxy.Redacted())
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(proxy.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("your proxy: %w", err)
	}
	if proxy.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: proxy.Hostname(), MinVersion: tls.VersionTLS12})
	}
	opened, err := openTunnel(conn, proxy, pair)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("your proxy: %w", err)
	}
	return opened, nil
}

// openTunnel asks a proxy on a connection for a host.
func openTunnel(conn net.Conn, proxy *url.URL, pair string) (net.Conn, error) {
	_ = conn.SetDeadline(time.Now().Add(dialTimeout))
	if _, err := io.WriteString(conn, connectRequest(pair, proxy.User)); err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("it answered %s for %s", answer.Status, pair)
	}
	_ = conn.SetDeadline(time.Time{})
	return &tunnelConn{Conn: conn, in: in}, nil
}

// connectRequest asks a proxy for a tunnel to a host and port; user is nil for a proxy without a
// credential.
func connectRequest(pair string, user *url.Userinfo) string {
	request := "CONNECT " + pair + " HTTP/1.1\r\nHost: " + pair + "\r\n"
	if user != nil {
		password, _ := user.Password()
		request += "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)) + "\r\n"
	}
	return request + "\r\n"
}

// tunnelConn is a connection of which in may have read the first bytes already.
type tunnelConn struct {
	net.Conn
	in *bufio.Reader
}

func (c *tunnelConn) Read(b []byte) (int, error) { return c.in.Read(b) }

func (c *tunnelConn) CloseWrite() error { return relay.CloseWrite(c.Conn) }

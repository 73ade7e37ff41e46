package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"acp-agent/internal/network"
	"acp-agent/kinds"
)

const (
	// exchangeLimit bounds one exchange with an authorization server.
	exchangeLimit = 15 * time.Second
	// maxBody bounds an answer, in bytes.
	maxBody = 1 << 20
	// maxWord bounds a word of the server that is shown, in characters, and maxSaid an error
	// that may quote it.
	maxWord, maxSaid = 60, 300
)

// guard is the way to the authorization server. Its addresses come from a server that is
// not trusted, so each is judged: its text here, and what it leads to in the dialer.
type guard struct {
	account   *Account
	near      bool
	transport *http.Transport
}

// newGuard returns the way to the authorization server. near says that the server itself is
// not on the public network: then the other one need not be either.
func (a *Account) newGuard(near bool) *guard {
	g := &guard{account: a, near: near || private(a.server.Hostname())}
	g.transport = http.DefaultTransport.(*http.Transport).Clone()
	g.transport.DialContext = g.dial
	g.transport.DisableKeepAlives = true
	return g
}

// proxied marks the context of a request that goes through the proxy of the user's own
// environment, whose address need not be public.
type proxied struct{}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := g.account.judge(request.URL.String()); err != nil {
		return nil, err
	}
	if !g.near && private(request.URL.Hostname()) {
		return nil, fmt.Errorf("it leads to %s, which is not on the public network", word(request.URL.Host))
	}
	if proxy, err := http.ProxyFromEnvironment(request); err == nil && proxy != nil {
		request = request.WithContext(context.WithValue(request.Context(), proxied{}, true))
	}
	answer, err := g.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	answer.Body = &bounded{answer.Body, maxBody}
	return answer, nil
}

func (g *guard) dial(ctx context.Context, kind, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: exchangeLimit, ControlContext: g.control}
	if ctx.Value(proxied{}) != nil {
		dialer.ControlContext = nil
	}
	return dialer.DialContext(ctx, kind, address)
}

// control judges the address that is about to be connected: a name may lead anywhere.
func (g *guard) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if reason := network.Judge(to.Addr()); reason != "" && !g.near {
		return fmt.Errorf("it leads to %s, which is not on the public network (%s)", to.Addr(), reason)
	}
	return nil
}

// client follows no redirect to another host, to which it would carry what is secret.
func (g *guard) client() *http.Client {
	return &http.Client{Transport: g, Timeout: exchangeLimit, CheckRedirect: func(next *http.Request, before []*http.Request) error {
		from := before[0].URL
		switch {
		case next.URL.Host != from.Host || next.URL.Scheme != from.Scheme:
			return fmt.Errorf("it leads to another host, %s", word(next.URL.Host))
		case len(before) >= network.MaxRedirects:
			return errors.New("it leads on and on")
		}
		return nil
	}}
}

func (g *guard) close() { g.transport.CloseIdleConnections() }

// word is a word of the server as people are shown it.
func word(text string) string { return kinds.Line(text, maxWord) }

// bounded is a body that ends with an error when more comes than is left.
type bounded struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("the authorization server answers with more than %d MiB", maxBody>>20)
	}
	return n, err
}

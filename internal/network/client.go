package network

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// The limits of one exchange (N4, N6).
const (
	// DefaultTimeout is from the first look-up to the last byte of the body.
	DefaultTimeout = 15 * time.Second
	// MaxBytes bounds a body as it comes, and decoded unless a request says less
	// or more.
	MaxBytes = 5 << 20
	// MaxRedirects is how many are followed.
	MaxRedirects = 10

	maxHeaderBytes = 64 << 10
)

// Options say how a Client works. The zero value is for the public web.
type Options struct {
	// Grants are host:port pairs of the user's own configuration, never of a
	// project's, that may be private and have any port; see [ParseGrant].
	Grants []string
	// UserAgent is how the client names itself; empty means "acp-agent".
	UserAgent string
	// Timeout bounds a whole exchange, redirects and body included; 0 means
	// DefaultTimeout.
	Timeout time.Duration
	// RootCAs are whose certificates are trusted; nil means the system's.
	RootCAs *x509.CertPool
	// Resolver looks names up; nil means the system's.
	Resolver *net.Resolver
	// Secret says that an address must not be sent, because it holds a key; nil means that
	// none does.
	Secret func(address string) bool
}

// Request is what to ask for.
type Request struct {
	URL string
	// Method is GET, HEAD or POST; empty means GET.
	Method string
	// Header is sent to the origin of URL and to no other.
	Header map[string]string
	// Body is for POST.
	Body []byte
	// MaxBytes bounds the decoded body; 0 means 5 MiB.
	MaxBytes int64
}

// Response is the answer of the last hop.
type Response struct {
	URL         string
	Status      int
	ContentType string
	// Body is decoded, at most Request.MaxBytes of it.
	Body []byte
	// Cut means that there was more.
	Cut bool
	// Redirect is where the answer leads when that is another host, or would
	// repeat a body elsewhere. It was not followed, and Body is empty (N4).
	Redirect string
}

// Client fetches from the public web and from what the user granted. It is
// safe for concurrent use.
type Client struct {
	grants    grants
	dialer    *dialer
	transport *http.Transport
	userAgent string
	timeout   time.Duration
	secret    func(address string) bool
}

// New returns a Client. The error names a grant that is not a host:port pair.
func New(o Options) (*Client, error) {
	granted, err := newGrants(o.Grants)
	if err != nil {
		return nil, err
	}
	c := &Client{
		grants: granted, userAgent: o.UserAgent, timeout: o.Timeout, secret: o.Secret,
		dialer: &dialer{grants: granted, resolver: o.Resolver},
	}
	if c.userAgent == "" {
		c.userAgent = "acp-agent"
	}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	// HTTP/1 alone and a connection for each request: nothing is shared between
	// hosts, and nothing is left when Do returns. Proxy stays nil: a proxy of the
	// environment would connect for us, after the check (N5).
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	c.transport = &http.Transport{
		DialContext:            c.dialer.dial,
		DisableKeepAlives:      true,
		DisableCompression:     true, // decoded in body.go, within its limits
		MaxResponseHeaderBytes: maxHeaderBytes,
		Protocols:              &protocols,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
	}
	return c, nil
}

// Close releases what idles. Requests under way are ended by their context.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Check refuses what can be told by the text of an address alone: its form, its port, an
// address or a name that is not public (N1-N3). It looks nothing up and sends nothing;
// what a name leads to is judged when it is dialed. The error is a *BlockedError.
func (c *Client) Check(url string) error {
	to, err := Parse(url)
	if err != nil {
		return err
	}
	return c.judge(to)
}

// judge refuses an address by its text, of each hop.
func (c *Client) judge(to Target) error {
	if c.secret != nil && c.secret(to.String()) {
		// Without the address, which any part of may be the key.
		return &BlockedError{URL: "the address", Reason: "it holds a key of the agent's configuration", Pair: to.Pair()}
	}
	return c.grants.judge(to)
}

// Do asks and follows redirects within the host, each judged like the first
// address. A refusal is a *BlockedError, and an exchange that took too long
// wraps context.DeadlineExceeded. A status of failure is a Response (R82).
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	hop, err := c.firstHop(r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, errSlow)
	defer cancel()
	for range MaxRedirects + 1 {
		answer, next, err := c.exchange(ctx, hop)
		if err != nil {
			return nil, failure(ctx, hop.to, c.timeout, err)
		}
		if next == nil {
			return answer, nil
		}
		hop = *next
	}
	return nil, fmt.Errorf("get %s: more than %d redirects", hop.to.shown(), MaxRedirects)
}

// firstHop checks a request before anything of it is sent.
func (c *Client) firstHop(r Request) (hop, error) {
	h := hop{method: r.Method, header: r.Header, body: r.Body, maxBytes: r.MaxBytes}
	switch h.method {
	case "":
		h.method = http.MethodGet
	case http.MethodGet, http.MethodHead, http.MethodPost:
	default:
		return h, fmt.Errorf("method %q: must be GET, HEAD or POST", r.Method)
	}
	if h.body != nil && h.method != http.MethodPost {
		return h, fmt.Errorf("a %s request takes no body", h.method)
	}
	if h.maxBytes <= 0 {
		h.maxBytes = MaxBytes
	}
	var err error
	if h.to, err = Parse(r.URL); err != nil {
		return h, err
	}
	return h, c.judge(h.to)
}

// hop is one request on the way.
type hop struct {
	to       Target
	method   string
	header   map[string]string
	body     []byte
	maxBytes int64
}

// exchange sends one request. next is the redirect to follow, nil when the
// answer is the last one.
func (c *Client) exchange(ctx context.Context, h hop) (answer *Response, next *hop, err error) {
	var body io.Reader
	if h.body != nil {
		body = bytes.NewReader(h.body)
	}
	request, err := http.NewRequestWithContext(ctx, h.method, h.to.String(), body)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range h.header {
		request.Header.Set(name, value)
	}
	request.Header.Set("User-Agent", c.userAgent)
	request.Header.Set("Accept-Encoding", "gzip, deflate")
	// Not through http.Client, which follows redirects and keeps cookies.
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	answer = &Response{URL: h.to.String(), Status: response.StatusCode, ContentType: response.Header.Get("Content-Type")}
	location := response.Header.Get("Location")
	if isRedirect(response.StatusCode) && location != "" {
		next, err = c.redirected(h, answer, location)
		return answer, next, err
	}
	answer.Body, answer.Cut, err = readBody(response, h.maxBytes)
	return answer, nil, err
}

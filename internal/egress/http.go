package egress

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"
)

const maxHeaderBytes = 64 << 10

// newHTTPServer returns the server for clients that speak HTTP. net/http parses each request and writes it anew,
// so that the destination gets one well-formed request.
func (p *Proxy) newHTTPServer() *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	silent := log.New(io.Discard, "", 0)
	forwarder := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.Host = r.In.URL.Host
			if _, named := r.Out.Header["User-Agent"]; !named {
				r.Out.Header.Set("User-Agent", "") // net/http would name itself
			}
		},
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, pair string) (net.Conn, error) {
				to, err := parsePair(pair)
				if err != nil {
					return nil, &Refusal{Reason: err.Error()}
				}
				return p.connect(ctx, to)
			},
			DisableKeepAlives:      true, // each request is judged
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeaderBytes,
			Protocols:              &protocols,
		},
		FlushInterval: -1,
		ErrorLog:      silent,
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, err error) { writeFailure(w, r.URL.Host, err) },
	}
	return &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p.startRequest() {
				defer p.running.Done()
				p.answer(w, r, forwarder)
			}
		}),
		Protocols:         &protocols,
		ReadHeaderTimeout: requestTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          silent,
		BaseContext:       func(net.Listener) context.Context { return p.ctx },
	}
}

// answer serves one request.
func (p *Proxy) answer(w http.ResponseWriter, r *http.Request, forward http.Handler) {
	switch {
	case !p.authorized(r):
		w.Header().Set("Proxy-Authenticate", `Basic realm="acp-agent"`)
		http.Error(w, "acp-agent: the proxy of the sandbox wants the credential that stands in HTTP_PROXY", http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.tunnelHTTP(w, r)
	case r.Method == http.MethodPost && r.URL.Host == loginHost:
		p.giveLogin(w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		http.Error(w, "acp-agent: this is the proxy of the sandbox: it takes CONNECT and absolute http addresses", http.StatusBadRequest)
	default:
		forward.ServeHTTP(w, r)
	}
}

// authorized reports whether a request has the credential.
func (p *Proxy) authorized(r *http.Request) bool {
	if p.o.Credential == "" {
		return true
	}
	scheme, encoded, _ := strings.Cut(r.Header.Get("Proxy-Authorization"), " ")
	decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	return err == nil && strings.EqualFold(scheme, "Basic") && p.isCredential(string(decoded))
}

// isCredential compares user:password, in a time that does not depend on how much of it is right.
func (p *Proxy) isCredential(pair string) bool {
	return subtle.ConstantTimeCompare([]byte(pair), []byte(User+":"+p.o.Credential)) == 1
}

// tunnelHTTP answers CONNECT.
func (p *Proxy) tunnelHTTP(w http.ResponseWriter, r *http.Request) {
	to, err := parsePair(r.Host)
	if err != nil {
		writeFailure(w, r.Host, &Refusal{Reason: err.Error()})
		return
	}
	server, err := p.connect(r.Context(), to)
	if err != nil {
		writeFailure(w, to.Pair(), err)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		writeFailure(w, to.Pair(), err)
		return
	}
	defer client.Close()
	_ = client.SetDeadline(time.Time{})
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	p.relay(to, client, buffered.Reader, server)
}

// writeFailure tells a client why it is not connected: 403 for a refusal, 502 when the host cannot be reached.
func writeFailure(w http.ResponseWriter, pair string, err error) {
	status, text := http.StatusBadGateway, "acp-agent: "+pair+" cannot be reached: "+err.Error()
	if _, refused := errors.AsType[*Refusal](err); refused {
		status, text = http.StatusForbidden, "acp-agent: the network is closed for "+pair+": "+err.Error()
	}
	// Some clients show only the headers of a refused tunnel.
	w.Header().Set("X-Acp-Agent", url.PathEscape(text))
	http.Error(w, text, status)
}

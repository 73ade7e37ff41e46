package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

const credential = "s3cret"

// world is a made-up internet: names with their addresses, and one server behind all
// of these. It counts the connections that reach it.
type world struct {
	names map[string][]string
	// server gets each connection, whatever address it was made to.
	server string

	mu      sync.Mutex
	judged  []Destination
	looked  []string
	reached []netip.AddrPort
	verdict func(Destination) error
}

func (w *world) judge(_ context.Context, to Destination) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.judged = append(w.judged, to)
	if w.verdict == nil {
		return nil
	}
	return w.verdict(to)
}

func (w *world) lookUp(_ context.Context, name string) (addrs []netip.Addr, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = append(w.looked, name)
	for _, text := range w.names[name] {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	if addrs == nil {
		return nil, &net.DNSError{Err: "no such host", Name: name, Server: "192.0.2.53:53", IsNotFound: true}
	}
	return addrs, nil
}

func (w *world) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.reached = append(w.reached, to)
	w.mu.Unlock()
	var dialer net.Dialer
	return dialer.DialContext(ctx, "tcp", w.server)
}

// serve starts a proxy in front of the world and returns its address.
func (w *world) serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Serve(l, Options{Credential: credential, Judge: w.judge, LookUp: w.lookUp, Dial: w.dial})
	t.Cleanup(p.Close)
	return l.Addr().String()
}

func closedFor(reason string) func(Destination) error {
	return func(Destination) error { return &Refusal{Reason: reason} }
}

// client asks through the proxy, in one of its protocols.
func client(t *testing.T, scheme, proxy, password string, pool *tls.Config) *http.Client {
	t.Helper()
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: scheme, Host: proxy, User: url.UserPassword(User, password)}),
		TLSClientConfig: pool,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: hangs}
}

func TestProxy_Protocols(t *testing.T) {
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s", r.Host, r.Header.Get("Proxy-Authorization"))
	})
	plain, secure := httptest.NewServer(hello), httptest.NewTLSServer(hello)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	trust := secure.Client().Transport.(*http.Transport).TLSClientConfig

	for _, test := range []struct{ proxy, url, server string }{
		{"http", "http://example.com/", plain.Listener.Addr().String()},
		{"http", "https://example.com/", secure.Listener.Addr().String()},
		{"socks5", "http://example.com:8080/", plain.Listener.Addr().String()},
		{"socks5h", "https://example.com/", secure.Listener.Addr().String()},
	} {
		t.Run(test.proxy+" "+test.url, func(t *testing.T) {
			w := &world{names: map[string][]string{"example.com": {"93.184.216.34"}}, server: test.server}
			c := client(t, test.proxy, w.serve(t), credential, trust)
			for range 2 {
				answer, err := c.Get(test.url)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				asked, _ := url.Parse(test.url)
				if want := asked.Host + " "; string(body) != want {
					t.Errorf("the server saw %q, want %q", body, want)
				}
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			if len(w.reached) == 0 || w.reached[0].Addr().String() != "93.184.216.34" {
				t.Errorf("reached %v", w.reached)
			}
		})
	}
}

func TestProxy_RefusedIsNotLookedUp(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		for _, address := range []string{"http://example.com/", "https://example.com/"} {
			w := &world{names: map[string][]string{"example.com": {"93.184.216.34"}}, verdict: closedFor("the user said no")}
			c := client(t, scheme, w.serve(t), credential, nil)
			answer, err := c.Get(address)
			if err == nil {
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				if answer.StatusCode != http.StatusForbidden || !strings.Contains(string(body), "closed for example.com:80: the user said no") &&
					!strings.Contains(string(body), "closed for example.com: the user said no") {
					t.Errorf("%s %s: %s %q", scheme, address, answer.Status, body)
				}
			}
			w.mu.Lock()
			if len(w.judged) == 0 || len(w.looked)+len(w.reached) > 0 {
				t.Errorf("%s %s: judged %v, looked up %v, reached %v", scheme, address, w.judged, w.looked, w.reached)
			}
			w.mu.Unlock()
		}
	}
}

func TestProxy_WrongCredential(t *testing.T) {
	for _, scheme := range []string{"http", "socks5"} {
		w := &world{}
		c := client(t, scheme, w.serve(t), "guessed", nil)
		if answer, err := c.Get("http://example.com/"); err == nil {
			answer.Body.Close()
			if answer.StatusCode != http.StatusProxyAuthRequired {
				t.Errorf("%s: %s", scheme, answer.Status)
			}
		}
		if len(w.judged) > 0 {
			t.Errorf("%s: judged %v", scheme, w.judged)
		}
	}
}

// What a name leads to decides, and the judge hears of it before anything connects.
func TestProxy_Addresses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	onlyPublic := func(to Destination) error {
		if to.Private != "" {
			return &Refusal{Reason: to.Private}
		}
		return nil
	}
	for _, test := range []struct{ host, reached string }{
		{"public.example", "93.184.216.34:80"},
		{"inside.example", ""},
		{"both.example", "93.184.216.34:80"},
		{"mapped.example", ""},
		{"metadata.example", ""},
		{"localhost", ""},
		{"deep.localhost", ""},
		{"127.0.0.1", ""},
		{"[::1]", ""},
		{"[::ffff:127.0.0.1]", ""},
		{"169.254.169.254", ""},
		{"10.0.0.1", ""},
		{"0.0.0.0", ""},
		{"127.1", ""},
		{"2130706433", ""},
		{"0x7f000001", ""},
		{"unknown.example", ""},
	} {
		t.Run(test.host, func(t *testing.T) {
			w := &world{
				names: map[string][]string{
					"public.example": {"93.184.216.34"}, "inside.example": {"10.1.2.3"}, "both.example": {"127.0.0.1", "93.184.216.34"},
					"mapped.example": {"::ffff:127.0.0.1"}, "metadata.example": {"169.254.169.254"}, "localhost": {"127.0.0.1"},
				},
				server: server.Listener.Addr().String(), verdict: onlyPublic,
			}
			if answer, err := client(t, "http", w.serve(t), credential, nil).Get("http://" + test.host + "/"); err == nil {
				answer.Body.Close()
				if got := answer.StatusCode == http.StatusOK; got != (test.reached != "") {
					t.Errorf("answered %s", answer.Status)
				}
			}
			got := ""
			for _, to := range w.reached {
				got += to.String()
			}
			if got != test.reached {
				t.Errorf("reached %q, want %q", got, test.reached)
			}
		})
	}
}

// A grant of a private host reaches it.
func TestProxy_PrivateByTheUsersWord(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	w := &world{names: map[string][]string{"inside.example": {"10.1.2.3"}}, server: server.Listener.Addr().String()}
	answer, err := client(t, "http", w.serve(t), credential, nil).Get("http://inside.example:8081/")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if len(w.judged) != 2 || w.judged[1].Private != "private" || w.judged[1].Addr.String() != "10.1.2.3" {
		t.Errorf("judged %+v", w.judged)
	}
}

// The name in a TLS handshake has to be the judged one.
func TestProxy_HandshakeForAnotherName(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(secure.Close)
	for _, test := range []struct {
		judged, named string
		open          bool
	}{
		{"example.com", "example.com", true},
		{"example.com", "EXAMPLE.com", true},
		{"example.com", "other.example", false},
		{"example.com", "", false},
		{"93.184.216.34", "", true},
		{"93.184.216.34", "example.com", false},
	} {
		w := &world{names: map[string][]string{"example.com": {"93.184.216.34"}}, server: secure.Listener.Addr().String()}
		conn := connectThrough(t, w.serve(t), test.judged+":443")
		secured := tls.Client(conn, &tls.Config{ServerName: test.named, InsecureSkipVerify: true})
		if err := secured.Handshake(); (err == nil) != test.open {
			t.Errorf("%s judged, %q in the handshake: %v", test.judged, test.named, err)
		}
	}
}

// A server that speaks first is heard, and a client that ends its half still gets the rest.
func TestProxy_ServerSpeaksFirst(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "SSH-2.0-test\r\n")
		all, _ := io.ReadAll(conn)
		fmt.Fprintf(conn, "%d bytes", len(all))
	}()
	w := &world{names: map[string][]string{"git.example": {"93.184.216.34"}}, server: l.Addr().String()}
	conn := connectThrough(t, w.serve(t), "git.example:22")
	in := bufio.NewReader(conn)
	if line, err := in.ReadString('\n'); err != nil || line != "SSH-2.0-test\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	fmt.Fprint(conn, strings.Repeat("x", 1<<20))
	_ = conn.(*net.TCPConn).CloseWrite()
	if rest, err := io.ReadAll(in); err != nil || string(rest) != "1048576 bytes" {
		t.Errorf("%q, %v", rest, err)
	}
}

// connectThrough opens a tunnel with CONNECT.
func connectThrough(t *testing.T, proxy, pair string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(hangs))
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: pair}, Host: pair, Header: http.Header{}}
	request.SetBasicAuth(User, credential)
	request.Header.Set("Proxy-Authorization", request.Header.Get("Authorization"))
	request.Header.Del("Authorization")
	if err := request.Write(conn); err != nil {
		t.Fatal(err)
	}
	// Byte by byte, so that nothing of the tunnel is taken.
	var head strings.Builder
	for !strings.HasSuffix(head.String(), "\r\n\r\n") {
		b := make([]byte, 1)
		if _, err := io.ReadFull(conn, b); err != nil {
			t.Fatalf("%q: %v", head.String(), err)
		}
		head.Write(b)
	}
	if !strings.HasPrefix(head.String(), "HTTP/1.1 200 ") {
		t.Fatalf("answered %q", head.String())
	}
	return conn
}

// What is asked for in an odd way reaches the judged host as one plain request, or nothing.
func TestProxy_OddRequests(t *testing.T) {
	authorization := "Proxy-Authorization: Basic YWNwLWFnZW50OnMzY3JldA==\r\n"
	for _, test := range []struct{ name, request, host string }{
		{"another Host", "GET http://example.com/ HTTP/1.1\r\nHost: other.example\r\n" + authorization + "\r\n", "example.com"},
		{"two Hosts", "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nHost: other.example\r\n" + authorization + "\r\n", ""},
		{"origin form", "GET / HTTP/1.1\r\nHost: example.com\r\n" + authorization + "\r\n", ""},
		{"https in the clear", "GET https://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + authorization + "\r\n", ""},
		{"ftp", "GET ftp://example.com/ HTTP/1.1\r\nHost: example.com\r\n" + authorization + "\r\n", ""},
		{"line break in the path", "GET http://example.com/%0d%0aHost:%20other.example HTTP/1.1\r\nHost: example.com\r\n" + authorization + "\r\n", "example.com"},
		{"bare CR", "GET http://example.com/ HTTP/1.1\rX: y\r\nHost: example.com\r\n" + authorization + "\r\n", ""},
		{"two lengths", "POST http://example.com/ HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\nContent-Length: 30\r\n" + authorization + "\r\nabc", ""},
		{"CONNECT without a port", "CONNECT example.com HTTP/1.1\r\nHost: example.com\r\n" + authorization + "\r\n", ""},
		{"CONNECT with a user", "CONNECT user@example.com:443 HTTP/1.1\r\nHost: example.com\r\n" + authorization + "\r\n", ""},
		{"a NUL in the name", "CONNECT example.com\x00.other.example:443 HTTP/1.1\r\nHost: x\r\n" + authorization + "\r\n", ""},
		{"no credential", "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			seen := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Host }))
			t.Cleanup(server.Close)
			w := &world{names: map[string][]string{"example.com": {"93.184.216.34"}, "other.example": {"93.184.216.35"}}, server: server.Listener.Addr().String()}
			conn, err := net.Dial("tcp", w.serve(t))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(hangs))
			fmt.Fprint(conn, test.request)
			answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err == nil {
				answer.Body.Close()
			}
			host := ""
			select {
			case host = <-seen:
			default:
			}
			if host != test.host {
				t.Errorf("the server was asked for %q, want %q", host, test.host)
			}
			for _, to := range w.reached {
				if to.Addr().String() != "93.184.216.34" {
					t.Errorf("reached %v", to)
				}
			}
		})
	}
}

func TestProxy_OddSocks(t *testing.T) {
	greeting := "\x05\x01\x02\x01\x09acp-agent\x06s3cret"
	for _, test := range []struct{ name, send string }{
		{"BIND", greeting + "\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50"},
		{"UDP", greeting + "\x05\x03\x00\x01\x7f\x00\x00\x01\x00\x50"},
		{"a NUL in the name", greeting + "\x05\x01\x00\x03\x09a.com\x00b.c\x00\x50"},
		{"an empty name", greeting + "\x05\x01\x00\x03\x00\x00\x50"},
		{"a short spelling of an address", greeting + "\x05\x01\x00\x03\x05127.1\x00\x50"},
		{"port 0", greeting + "\x05\x01\x00\x03\x0bexample.com\x00\x00"},
		{"no method", "\x05\x00"},
		{"no password", "\x05\x01\x00"},
		{"a wrong password", "\x05\x01\x02\x01\x09acp-agent\x06s3creT" + "\x05\x01\x00\x03\x0bexample.com\x00\x50"},
		{"version 4", "\x04\x01\x00\x50\x7f\x00\x00\x01\x00"},
		{"half a request", greeting + "\x05\x01\x00\x03\x0bexam"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &world{names: map[string][]string{"example.com": {"93.184.216.34"}}}
			conn, err := net.Dial("tcp", w.serve(t))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(hangs))
			fmt.Fprint(conn, test.send)
			_ = conn.(*net.TCPConn).CloseWrite()
			_, _ = io.ReadAll(conn)
			if len(w.judged)+len(w.looked)+len(w.reached) > 0 {
				t.Errorf("judged %v, looked up %v, reached %v", w.judged, w.looked, w.reached)
			}
		})
	}
}

// Close ends what waits for an answer and what is open.
func TestProxy_CloseEndsAll(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	asked := make(chan struct{}, 1)
	w := &world{names: map[string][]string{"example.com": {"93.184.216.34"}}, server: silent.Addr().String()}
	p := Serve(l, Options{Credential: credential, LookUp: w.lookUp, Dial: w.dial, Judge: func(ctx context.Context, to Destination) error {
		if to.Port == 22 {
			return nil
		}
		asked <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	open := connectThrough(t, l.Addr().String(), "example.com:22")
	failed := make(chan error, 1)
	go func() {
		answer, err := client(t, "http", l.Addr().String(), credential, nil).Get("http://example.com/")
		if err == nil {
			answer.Body.Close()
			err = errors.New(answer.Status)
		}
		failed <- err
	}()
	<-asked
	p.Close()
	if err := <-failed; err == nil {
		t.Error("a request outlived the proxy")
	}
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("a tunnel outlived the proxy")
	}
}

func FuzzProxy(f *testing.F) {
	f.Add([]byte("CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n\x16\x03\x01\x00\x05hello"))
	f.Add([]byte("GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\n\r\n"))
	f.Add([]byte("\x05\x01\x00\x05\x01\x00\x03\x0bexample.com\x00\x50"))
	f.Fuzz(func(t *testing.T, sent []byte) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		w := &world{verdict: closedFor("fuzzing")}
		p := Serve(l, Options{Judge: w.judge, LookUp: w.lookUp, Dial: w.dial})
		defer p.Close()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Skip(err)
		}
		defer conn.Close()
		_, _ = conn.Write(sent)
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, _ = io.ReadAll(conn)
		if len(w.reached) > 0 {
			t.Errorf("reached %v", w.reached)
		}
	})
}

package network_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/network"
)

func hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Set-Cookie", "a=b")
	fmt.Fprint(w, "hello")
}

func TestClient_Granted(t *testing.T) {
	t.Parallel()
	s := newSite(t, hello)
	c := client(t, network.Options{Grants: []string{s.pair()}, UserAgent: "test/1"})
	want := &network.Response{URL: s.URL + "/a?b=c", Status: 200, ContentType: "text/plain; charset=utf-8", Body: []byte("hello")}
	for range 2 { // the second time there could be a cookie
		got, err := c.Do(t.Context(), network.Request{URL: s.URL + "/a?b=c#d", Header: map[string]string{"accept": "text/plain"}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
	}
	header := http.Header{"Accept": {"text/plain"}, "Accept-Encoding": {"gzip, deflate"}, "Connection": {"close"}, "User-Agent": {"test/1"}}
	if diff := cmp.Diff(header, s.request(1).Header); diff != "" {
		t.Errorf("header sent (-want +got):\n%s", diff)
	}
	if n := s.connections.Load(); n != 2 {
		t.Errorf("%d connections for 2 requests", n)
	}
}

// A grant is one host and one port: not the port beside it, and not another
// name or spelling of the host.
func TestClient_GrantIsOnePair(t *testing.T) {
	t.Parallel()
	s, beside := newSite(t, hello), untouched(t)
	c := client(t, network.Options{Grants: []string{s.pair()}})
	for _, url := range []string{
		"http://" + beside.String(), "http://localhost" + s.port(), "http://[::1]" + s.port(), "http://127.0.0.2" + s.port(),
		"http://2130706433" + s.port(), "http://0x7f.1" + s.port(), "http://127.1" + s.port(), "http://0" + s.port(),
	} {
		refused(t, c, url)
	}
	if n := s.connections.Load(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
	for _, url := range []string{"http://127.0.0.1." + s.port(), "http://[::ffff:127.0.0.1]" + s.port(), "http://１２７.0.0.1" + s.port()} {
		if _, err := c.Do(t.Context(), network.Request{URL: url}); err != nil {
			t.Errorf("%s is another spelling of what is granted: %v", url, err)
		}
	}
}

// refused checks that a request is refused by rule.
func refused(t *testing.T, c *network.Client, url string) *network.BlockedError {
	t.Helper()
	got, err := c.Do(t.Context(), network.Request{URL: url})
	var blocked *network.BlockedError
	if !errors.As(err, &blocked) {
		t.Fatalf("%s: %+v, %v; want it blocked", url, got, err)
	}
	return blocked
}

func TestClient_GrantedName(t *testing.T) {
	t.Parallel()
	s := newSite(t, hello)
	asked := resolver(func(int) []string { return []string{"127.0.0.1"} })
	c := client(t, network.Options{Grants: []string{"Intranet.Example." + s.port()}, Resolver: asked})
	got, err := c.Do(t.Context(), network.Request{URL: "http://INTRANET.example" + s.port()})
	if err != nil || string(got.Body) != "hello" || s.request(0).Host != "intranet.example"+s.port() {
		t.Errorf("Do = %+v, %v", got, err)
	}
	refused(t, c, "http://intranet.example/")
}

func TestNew_Grants(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, grant, want string }{
		{"name", "Intranet.Example:8080", "intranet.example:8080"},
		{"address", "10.0.0.1:080", "10.0.0.1:80"},
		{"address of version 6", "[FD00::0:1]:443", "[fd00::1]:443"},
		{"no port", "localhost", ""},
		{"empty port", "localhost:", ""},
		{"no host", ":80", ""},
		{"pattern", "*.example:80", ""},
		{"address with scheme", "http://localhost:80", ""},
		{"path", "localhost:80/a", ""},
		{"user", "u@localhost:80", ""},
		{"no brackets", "::1:80", ""},
		{"zone", "[fe80::1%eth0]:80", ""},
		{"port too large", "localhost:65536", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := network.ParseGrant(tt.grant)
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("ParseGrant(%q) = %q, %v; want %q", tt.grant, got, err, tt.want)
			}
			if _, err := network.New(network.Options{Grants: []string{tt.grant}}); (err == nil) != (tt.want != "") {
				t.Errorf("New with grant %q: %v", tt.grant, err)
			}
		})
	}
}

func TestClient_Blocked(t *testing.T) {
	t.Parallel()
	c := client(t, network.Options{})
	c.OnConnect(func(to netip.AddrPort) error { return fmt.Errorf("about to connect to %s", to) })
	tests := []struct{ name, url, want string }{
		{"loopback", "http://127.0.0.1/", "127.0.0.1 is not a public address (loopback); a user can allow the pair 127.0.0.1:80 with web.private"},
		{"metadata", "http://169.254.169.254/latest/meta-data/?k=v", "http://169.254.169.254/latest/meta-data/ was not fetched: 169.254.169.254 is not a public"},
		{"mapped", "http://[::ffff:10.0.0.1]/", "10.0.0.1 is not a public address (private)"},
		{"NAT64", "http://[64:ff9b::7f00:1]/", "(loopback)"},
		{"6to4", "https://[2002:a00:1::]/", "pair [2002:a00:1::]:443"},
		{"this machine", "http://localhost/", "this machine"},
		{"below this machine", "http://a.LOCALHOST./", "this machine"},
		{"port", "http://example.com:22/", "port 22 is neither 80 nor 443"},
		{"malformed", "http://127.1/", "unusual spelling"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if blocked := refused(t, c, tt.url); !strings.Contains(blocked.Error(), tt.want) {
				t.Errorf("%s: %q, want %q in it", tt.url, blocked, tt.want)
			}
		})
	}
}

// A public name that leads to a private address is caught on the way to connect,
// after the text was found good.
func TestClient_NameToPrivateAddress(t *testing.T) {
	t.Parallel()
	at := untouched(t)
	c := client(t, network.Options{Resolver: resolver(func(int) []string { return []string{"127.0.0.1"} })})
	blocked := refused(t, c, "http://public.example/a?secret=1")
	want := &network.BlockedError{
		URL: "http://public.example/a", Host: "public.example", Pair: "public.example:80", Private: true,
		Reason: "127.0.0.1 is not a public address (loopback)",
	}
	if diff := cmp.Diff(want, blocked); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	// The same at the port where something listens.
	conn, err := c.Dial(t.Context(), net.JoinHostPort("public.example", fmt.Sprint(at.Port)))
	if !network.RefusedByDialer(err) {
		t.Errorf("Dial = %v, %v; want it refused", conn, err)
	}
}

// What a name meant at an earlier look-up says nothing of what is connected.
func TestClient_Rebinding(t *testing.T) {
	t.Parallel()
	at := untouched(t)
	stop := errors.New("stopped before connect")
	tests := []struct {
		name    string
		answers func(n int) []string
		passed  []string
	}{
		{"public, then private", func(n int) []string { return [][]string{{"8.8.8.8"}, {"127.0.0.1"}}[min(n, 1)] }, []string{"8.8.8.8"}},
		{"both at once", func(int) []string { return []string{"8.8.8.8", "127.0.0.1"} }, []string{"8.8.8.8", "8.8.8.8"}},
		{"both, private first", func(int) []string { return []string{"127.0.0.1", "8.8.8.8"} }, []string{"8.8.8.8", "8.8.8.8"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := client(t, network.Options{Resolver: resolver(tt.answers)})
			var passed []string
			c.OnConnect(func(to netip.AddrPort) error {
				passed = append(passed, to.Addr().String())
				return stop
			})
			for range 2 {
				if conn, err := c.Dial(t.Context(), net.JoinHostPort("rebind.example", fmt.Sprint(at.Port))); err == nil {
					t.Fatalf("connected to %s", conn.RemoteAddr())
				}
			}
			if diff := cmp.Diff(tt.passed, passed); diff != "" {
				t.Errorf("addresses that passed (-want +got):\n%s", diff)
			}
		})
	}
}

// A proxy of the environment would connect in our place, after the check.
func TestClient_NoProxy(t *testing.T) {
	proxy, s := untouched(t), newSite(t, hello)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://"+proxy.String())
	}
	asked := resolver(func(int) []string { return []string{"127.0.0.1"} })
	c := client(t, network.Options{Grants: []string{"intranet.example" + s.port()}, Resolver: asked})
	if _, err := c.Do(t.Context(), network.Request{URL: "http://intranet.example" + s.port()}); err != nil {
		t.Error(err)
	}
}

func TestClient_LookupFails(t *testing.T) {
	t.Parallel()
	c := client(t, network.Options{Resolver: resolver(func(int) []string { return nil })})
	_, err := c.Do(t.Context(), network.Request{URL: "http://nowhere.example/"})
	if err == nil || err.Error() != "get http://nowhere.example/: look up nowhere.example: no such host" {
		t.Errorf("error = %v", err)
	}
}

func TestClient_TLS(t *testing.T) {
	t.Parallel()
	s := newTLSSite(t, hello)
	c := client(t, network.Options{Grants: []string{s.pair()}})
	if got, err := c.Do(t.Context(), network.Request{URL: s.URL}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an unknown certificate: %+v, %v", got, err)
	}
}

func TestClient_BadRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, hello)
	c := client(t, network.Options{Grants: []string{s.pair()}})
	for _, r := range []network.Request{
		{URL: s.URL, Method: "DELETE"},
		{URL: s.URL, Method: "GET", Body: []byte("x")},
		{URL: s.URL, Header: map[string]string{"A": "b\r\nHost: c"}},
	} {
		if got, err := c.Do(t.Context(), r); err == nil {
			t.Errorf("Do(%+v) = %+v, want an error", r, got)
		}
	}
	if n := s.connections.Load(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}

func TestClient_Cancel(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	s := newSite(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	c := client(t, network.Options{Grants: []string{s.pair()}, Timeout: time.Hour})
	stopped := errors.New("the user has pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() { // ends with the request
		<-arrived
		cancel(stopped)
	}()
	if _, err := c.Do(ctx, network.Request{URL: s.URL}); !errors.Is(err, stopped) {
		t.Errorf("error = %v, want the cause of the cancel", err)
	}
}

package network_test

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/network"
)

// leading answers every request with a redirect.
func leading(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
		fmt.Fprint(w, "moved")
	}
}

// counting leads from /n to /n-1, and from /0 to the end.
func counting(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if err != nil || n == 0 {
		hello(w, r)
		return
	}
	leading(http.StatusFound, strconv.Itoa(n-1))(w, r)
}

func TestClient_RedirectsWithinHost(t *testing.T) {
	t.Parallel()
	s := newSite(t, counting)
	c := client(t, network.Options{Grants: []string{s.pair()}})
	got, err := c.Do(t.Context(), network.Request{URL: s.URL + "/10", Header: map[string]string{"X-Key": "k"}})
	if err != nil || got.URL != s.URL+"/0" || string(got.Body) != "hello" {
		t.Errorf("10 redirects: %+v, %v", got, err)
	}
	if last := s.request(10).Header; last.Get("X-Key") != "k" || last.Get("Referer") != "" || last.Get("Cookie") != "" {
		t.Errorf("header of the last hop: %v", last)
	}
	if got, err := c.Do(t.Context(), network.Request{URL: s.URL + "/11"}); err == nil || !strings.Contains(err.Error(), "more than 10 redirects") {
		t.Errorf("11 redirects: %+v, %v", got, err)
	}
}

func TestClient_RedirectBlocked(t *testing.T) {
	t.Parallel()
	beside := untouched(t)
	tests := []struct{ name, to, want string }{
		{"another port", "http://" + beside.String() + "/", "neither 80 nor 443"},
		{"same port of another name", "//localhost/", "this machine"},
		{"private address", "http://10.0.0.1/", "10.0.0.1 is not a public address"},
		{"metadata", "http://169.254.169.254/", "169.254.169.254 is not a public address"},
		{"mapped loopback", "http://[::ffff:127.0.0.1]/", "127.0.0.1 is not a public address"},
		{"odd spelling", "http://0x7f.1/", "unusual spelling"},
		{"file", "file:///etc/passwd", "http:// or https://"},
		{"user", "http://u:p@example.com/", "user name or password"},
		{"no address", "http://[::1", "not a valid address"},
		{"too long", "http://example.com/" + strings.Repeat("a", 3000), "longer than 2048"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, leading(http.StatusFound, tt.to))
			c := client(t, network.Options{Grants: []string{s.pair()}})
			if blocked := refused(t, c, s.URL); !strings.Contains(blocked.Reason, tt.want) {
				t.Errorf("redirect to %s: %q, want %q", tt.to, blocked.Reason, tt.want)
			}
			if n := s.connections.Load(); n != 1 {
				t.Errorf("%d connections, want 1", n)
			}
		})
	}
}

// Another host is a new decision, even one that is granted.
func TestClient_RedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	other := newSite(t, hello)
	for _, to := range []string{"https://example.com/a?b=c", "http://localhost" + other.port() + "/"} {
		s := newSite(t, leading(http.StatusMovedPermanently, to))
		c := client(t, network.Options{Grants: []string{s.pair(), "localhost" + other.port()}})
		got, err := c.Do(t.Context(), network.Request{URL: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&network.Response{URL: s.URL + "/", Status: 301, ContentType: "text/plain; charset=utf-8", Redirect: to}, got); diff != "" {
			t.Errorf("response (-want +got):\n%s", diff)
		}
	}
	if n := other.connections.Load(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}

// A port of the same host is another origin: it is asked, but told nothing.
func TestClient_RedirectToAnotherOrigin(t *testing.T) {
	t.Parallel()
	other := newTLSSite(t, hello)
	roots := x509.NewCertPool()
	roots.AddCert(other.Certificate())
	key := map[string]string{"Authorization": "Bearer canary", "X-Key": "canary"}
	s := newSite(t, leading(http.StatusTemporaryRedirect, other.URL+"/x"))
	c := client(t, network.Options{Grants: []string{s.pair(), other.pair()}, RootCAs: roots})

	got, err := c.Do(t.Context(), network.Request{URL: s.URL, Header: key})
	if err != nil || got.URL != other.URL+"/x" || string(got.Body) != "hello" {
		t.Fatalf("Do = %+v, %v", got, err)
	}
	if s.request(0).Header.Get("X-Key") != "canary" {
		t.Error("the first origin was not sent the header")
	}
	for name, values := range other.request(0).Header {
		if strings.Contains(strings.Join(values, ","), "canary") {
			t.Errorf("another origin was sent %s: %q", name, values)
		}
	}

	got, err = c.Do(t.Context(), network.Request{URL: s.URL, Method: "POST", Body: []byte("canary")})
	if err != nil || got.Redirect != other.URL+"/x" || other.connections.Load() != 1 {
		t.Errorf("a body that would go elsewhere: %+v, %v, %d connections", got, err, other.connections.Load())
	}
}

func TestClient_RedirectDowngrade(t *testing.T) {
	t.Parallel()
	plain := newSite(t, hello)
	s := newTLSSite(t, leading(http.StatusFound, plain.URL))
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	c := client(t, network.Options{Grants: []string{s.pair(), plain.pair()}, RootCAs: roots})
	if blocked := refused(t, c, s.URL); !strings.Contains(blocked.Reason, "from https to http") || blocked.Private {
		t.Errorf("error = %+v", blocked)
	}
	if n := plain.connections.Load(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}

func TestClient_RedirectOfPost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		status       int
		method, body string
	}{
		{301, "GET", ""},
		{302, "GET", ""},
		{303, "GET", ""},
		{307, "POST", "x"},
		{308, "POST", "x"},
	}
	for _, tt := range tests {
		t.Run(strconv.Itoa(tt.status), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/" {
					leading(tt.status, "/end")(w, r)
				}
			})
			c := client(t, network.Options{Grants: []string{s.pair()}})
			if _, err := c.Do(t.Context(), network.Request{URL: s.URL, Method: "POST", Body: []byte("x")}); err != nil {
				t.Fatal(err)
			}
			if method, body := s.request(1).Method, s.body(1); method != tt.method || body != tt.body {
				t.Errorf("second hop %s %q, want %s %q", method, body, tt.method, tt.body)
			}
		})
	}
}

// A redirect without an address, and other answers of that class, are answers.
func TestClient_NoRedirect(t *testing.T) {
	t.Parallel()
	for _, status := range []int{300, 302, 304, 404, 500} {
		s := newSite(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		c := client(t, network.Options{Grants: []string{s.pair()}})
		got, err := c.Do(t.Context(), network.Request{URL: s.URL})
		if err != nil || got.Status != status || got.Redirect != "" {
			t.Errorf("status %d: %+v, %v", status, got, err)
		}
	}
}

// TestClient_RedirectWithSecret holds that no address is sent that holds a key, of a
// redirect neither.
func TestClient_RedirectWithSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t, leading(http.StatusFound, "/?k=secret"))
	c := client(t, network.Options{Grants: []string{s.pair()}, Secret: func(address string) bool { return strings.Contains(address, "secret") }})
	for _, address := range []string{s.URL + "/", s.URL + "/secret"} {
		answer, err := c.Do(t.Context(), network.Request{URL: address})
		if err == nil || !strings.Contains(err.Error(), "holds a key") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %+v, %v; want a refusal that does not show it", address, answer, err)
		}
	}
	if err := c.Check(s.URL + "/secret"); err == nil {
		t.Error("the check lets it pass")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.requests); n != 1 {
		t.Errorf("%d requests were sent, want the first alone", n)
	}
}

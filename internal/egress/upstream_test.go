package egress

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestUpstreamFrom(t *testing.T) {
	environ := []string{"HTTP_PROXY=http://plain.corp:3128", "HTTPS_PROXY=http://me:pw@proxy.corp:3128", "NO_PROXY=.corp,10.0.0.0/8"}
	for _, tt := range []struct {
		environ []string
		to      Destination
		want    string
	}{
		{environ, Destination{Host: "example.com", Port: 443}, "http://me:pw@proxy.corp:3128"},
		{environ, Destination{Host: "example.com", Port: 22}, "http://me:pw@proxy.corp:3128"},
		{environ, Destination{Host: "git.corp", Port: 443}, ""},
		{environ, Destination{Host: "10.1.2.3", Port: 443}, ""},
		{environ, Destination{Host: "localhost", Port: 8081}, ""},
		{environ, Destination{Host: "127.0.0.1", Port: 8081}, ""},
		{[]string{"http_proxy=http://plain.corp:3128"}, Destination{Host: "example.com", Port: 443}, "http://plain.corp:3128"},
	} {
		got := ""
		if proxy := UpstreamFrom(tt.environ)(tt.to); proxy != nil {
			got = proxy.String()
		}
		if got != tt.want {
			t.Errorf("%v goes through %q, want %q", tt.to, got, tt.want)
		}
	}
	if UpstreamFrom([]string{"NO_PROXY=x", "HTTPS_PROXY="}) != nil {
		t.Error("there is a proxy where none is named")
	}
}

// What passed goes through the user's proxy by its name, also where only that can look it up, and
// what did not pass does not come to it.
func TestProxy_Upstream(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the page") }))
	t.Cleanup(server.Close)
	asked := make(chan string, 8)
	corporate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization")
		if r.Host == "closed.example:80" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		out, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer out.Close()
		in, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer in.Close()
		_, _ = io.WriteString(in, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(out, in) }()
		_, _ = io.Copy(in, out)
	}))
	t.Cleanup(corporate.Close)
	proxy, err := url.Parse(corporate.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy.User = url.UserPassword("me", "pw")
	w := &world{
		names: map[string][]string{"inside.example": {"10.1.2.3"}, "own.example": {"10.1.2.4"}}, server: server.Listener.Addr().String(),
		verdict: func(to Destination) error {
			if to.Host == "unknown.example" || to.Host == "closed.example" || to.Private == "" && to.Host == "inside.example" || to.Addr.String() == "10.1.2.4" || to.Host == "own.example" {
				return nil
			}
			return &Refusal{Reason: "no one allows it"}
		},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := Serve(l, Options{Credential: credential, Judge: w.judge, LookUp: w.lookUp, Dial: w.dial, Upstream: func(Destination) *url.URL { return proxy }})
	t.Cleanup(p.Close)
	c := client(t, "http", l.Addr().String(), credential, nil)
	for _, tt := range []struct{ host, status, text, asked string }{
		{"unknown.example", "200 OK", "the page", "CONNECT unknown.example:80 Basic bWU6cHc="},
		{"refused.example", "403 Forbidden", "no one allows it", ""},
		{"inside.example", "403 Forbidden", "no one allows it", ""},
		{"own.example", "200 OK", "the page", ""},
		{"closed.example", "502 Bad Gateway", "your proxy: it answered 403", "CONNECT closed.example:80 Basic bWU6cHc="},
	} {
		answer, err := c.Get("http://" + tt.host + "/")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		got := ""
		select {
		case got = <-asked:
		default:
		}
		if answer.Status != tt.status || !strings.Contains(string(text), tt.text) || got != tt.asked {
			t.Errorf("%s: %s with %q, the user's proxy was asked %q", tt.host, answer.Status, text, got)
		}
	}
	if got := fmt.Sprint(w.reached); got != "[10.1.2.4:80]" {
		t.Errorf("reached %s beside the proxy", got)
	}
}

package oauth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

func account(t *testing.T, server string) *Account {
	t.Helper()
	a, err := New(server, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// R92: where a server's metadata leads is judged before anything is sent, by its text and by
// the address behind its name.
func TestGuard(t *testing.T) {
	var reached atomic.Int32
	inside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, strings.Replace("http://"+r.Host, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect)
		case "/long":
			w.Write(make([]byte, maxBody+1))
		}
	}))
	defer inside.Close()
	port := inside.URL[strings.LastIndex(inside.URL, ":"):]
	const public, local = "https://tracker.example/mcp", "http://127.0.0.1:1/mcp"
	for _, tt := range []struct {
		name, server string
		near         bool
		address      string
		want         string // in the error; "" is none
		reached      int32
	}{
		{"this machine, for a server of this machine", local, false, inside.URL, "", 1},
		{"a redirect to another host", local, false, inside.URL + "/away", "another host, localhost", 1},
		{"an answer without end", local, false, inside.URL + "/long", "more than 1 MiB", 1},
		{"http, for a public server", public, false, inside.URL, "not https", 0},
		{"http, for a server of the same network", public, true, "http://10.0.0.1/", "not https", 0},
		{"http elsewhere, for a server of this machine", local, false, "http://tracker.example/", "not https", 0},
		{"this machine, for a public server", public, false, "https://127.0.0.1" + port, "not on the public network", 0},
		{"a name of this machine, for a public server", public, false, "https://localhost" + port, "not on the public network", 0},
		{"a private address, for a public server", public, false, "https://10.1.2.3/token", "not on the public network", 0},
		{"the service of a cloud host", public, false, "https://169.254.169.254/token", "not on the public network", 0},
		{"an address in another spelling", public, false, "https://[::ffff:10.0.0.1]/", "not on the public network", 0},
		{"a name and a password", public, false, "https://a:b@tracker.example/", "cannot be used", 0},
		{"no address", public, false, "https:///token", "cannot be used", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reached.Store(0)
			guard := account(t, tt.server).newGuard(tt.near)
			defer guard.close()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tt.address, nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := guard.client().Do(request)
			if err == nil {
				for b := make([]byte, 1<<16); err == nil; {
					_, err = answer.Body.Read(b)
				}
				answer.Body.Close()
			}
			if tt.want == "" && err.Error() != "EOF" || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v; want %q", err, tt.want)
			}
			if n := reached.Load(); n != tt.reached {
				t.Errorf("the host was asked %d times; want %d", n, tt.reached)
			}
		})
	}
}

// A name that leads into this machine is refused in the dialer, where a look-up cannot be
// answered otherwise the second time.
func TestGuard_Dialer(t *testing.T) {
	guard := account(t, "https://tracker.example/mcp").newGuard(false)
	for address, refused := range map[string]bool{
		"127.0.0.1:443": true, "10.0.0.1:443": true, "[fe80::1]:443": true, "100.64.0.1:443": true, "169.254.169.254:80": true, "93.184.216.34:443": false,
	} {
		if err := guard.control(context.Background(), "tcp", address, nil); (err != nil) != refused {
			t.Errorf("%s: %v", address, err)
		}
	}
	near := account(t, "https://tracker.example/mcp").newGuard(true)
	if err := near.control(context.Background(), "tcp", "10.0.0.1:443", nil); err != nil {
		t.Errorf("a private address, for a private server: %v", err)
	}
}

// A token is bound to an address, and two spellings of one are one.
func TestCanonical(t *testing.T) {
	same := [][2]string{
		{"https://Tracker.example/mcp", "https://tracker.example:443/mcp/"},
		{"http://127.0.0.1:80/", "http://127.0.0.1"},
	}
	for _, pair := range same {
		if a, b := account(t, pair[0]), account(t, pair[1]); a.name != b.name {
			t.Errorf("%q and %q", a.name, b.name)
		}
	}
	seen := map[string]string{}
	for _, address := range []string{
		"https://tracker.example/mcp", "https://tracker.example/MCP", "https://tracker.example:8443/mcp", "https://tracker.example.org/mcp",
		"https://tracker.example/mcp?team=a", "https://tracker.example/mcp?team=b", "https://tracker.example",
	} {
		name := account(t, address).name
		if other, taken := seen[name]; taken {
			t.Errorf("%s has the token of %s", address, other)
		}
		seen[name] = address
	}
	if _, err := New("http://tracker.example/mcp", Options{}); err == nil {
		t.Error("a token would be sent over http")
	}
}

// What is kept counts for its own server and client alone, whatever wrote it.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"server":"https://tracker.example/mcp","client_id":"a","access_token":"t"}`))
	f.Add([]byte(`{"server":"https://other.example/mcp","client_id":"a","access_token":"t"}`))
	f.Add([]byte(`{"access_token":1}`))
	f.Fuzz(func(t *testing.T, kept []byte) {
		a, err := New("https://tracker.example/mcp", Options{Client: Client{ID: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		if g := a.decode(kept); g != nil && (g.Server != a.origin || g.ClientID != "a" || g.Access == "") {
			t.Errorf("%s counts", kept)
		}
	})
}

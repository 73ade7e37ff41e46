package app

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"acp-agent/config"
	"acp-agent/session"
)

// loginCore is an agent with directories and an environment of its own.
func loginCore(t *testing.T, env map[string]string) *core {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	dir := t.TempDir()
	c := newCore(io.Discard)
	c.dataDir, c.stateDir = filepath.Join(dir, "data"), filepath.Join(dir, "state")
	c.sources = config.Sources{
		Getenv:   func(name string) string { return env[name] },
		ReadFile: config.ReadFile, ReadLogin: c.sources.ReadLogin, LoginFile: filepath.Join(c.dataDir, "login", "server.json"),
	}
	c.getenv = c.sources.Getenv
	return c
}

// The key of a login is used by the running agent, kept out of what its tools and log
// show, and forgotten by logout on disk and in memory.
func TestLogin_RunningAgent(t *testing.T) {
	const key = "sk-canary-0123456789abcdef"
	c := loginCore(t, nil)
	wantAuth := func(why string, err error) {
		t.Helper()
		if _, ok := errors.AsType[*session.AuthError](err); !ok {
			t.Errorf("%s: %v, want an error of authentication", why, err)
		}
	}
	_, err := c.Backend()
	wantAuth("before the login", err)
	login := config.Login{Provider: otherProvider, BaseURL: "http://127.0.0.1:9/v1", Model: "m"}
	if err := c.storeLogin(t.Context(), login, key); err != nil {
		t.Fatal(err)
	}
	backend, err := c.Backend()
	if err != nil || backend.Model != "m" || backend.Server != "127.0.0.1:9, with a key from acp-agent login" {
		t.Fatalf("%+v, %v", backend, err)
	}
	if !slices.Contains(c.secrets(), key) || c.keys.Known("a "+key) == "a "+key || strings.Contains(c.logger.values.Text(key), key) {
		t.Error("the key is not kept to ourselves")
	}
	// A key of the client is for the server that the client means.
	if err := c.Authenticate(t.Context(), "sk-client-0123456789"); err != nil {
		t.Fatal(err)
	}
	if backend, err = c.Backend(); err != nil || !strings.HasPrefix(backend.Server, "api.openai.com, with a key from the editor") {
		t.Errorf("%q, %v", backend.Server, err)
	}
	c.Logout()
	if err := c.Forget(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = c.Backend()
	wantAuth("logged out", err)
	wantAuth("nothing is stored", c.Authenticate(t.Context(), ""))
	for _, dir := range []string{"login", "tokens"} {
		files, err := filepath.Glob(filepath.Join(c.dataDir, dir, "*.json"))
		if err != nil || len(files) > 0 {
			t.Errorf("left: %v, %v", files, err)
		}
	}
}

// A key that is gone is an error that says what to do, and no request without a key.
func TestLogin_KeyGone(t *testing.T) {
	c := loginCore(t, nil)
	login := config.Login{Provider: otherProvider, BaseURL: "http://127.0.0.1:9/v1", Model: "m"}
	if err := c.storeLogin(t.Context(), login, "sk-canary-0123456789abcdef"); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(c.dataDir, "tokens")); err != nil {
		t.Fatal(err)
	}
	_, err := c.Backend()
	if _, ok := errors.AsType[*session.AuthError](err); !ok || !strings.Contains(err.Error(), "run acp-agent login again") {
		t.Errorf("got %v", err)
	}
	cfg, err := c.load("")
	if err != nil {
		t.Fatal(err)
	}
	if f := keyFinding(cfg, c.loginStore(cfg), ""); f.Status != doctorFail || !strings.Contains(f.Detail, "gone") {
		t.Errorf("doctor: %+v", f)
	}
}

// One request tells a wrong key from a wrong address, and what it says never holds the key.
func TestCheckLogin(t *testing.T) {
	const key = "sk-canary-0123456789abcdef"
	for _, tt := range []struct {
		name   string
		status int
		body   string
		models string
		want   string // of the note or the error
		key    bool   // the key is to blame
		fails  bool
	}{
		{name: "a list", status: 200, body: `{"data":[{"id":"b"},{"id":"a"},{"id":"b"}]}`, models: "a b"},
		{name: "another object", status: 200, body: `{"data":{"label":"x"}}`},
		{name: "a page", status: 200, body: `<html>`, want: "there is no model API", fails: true},
		{name: "not there", status: 404, body: `{"error":{"message":"nope"}}`, want: "HTTP 404 Not Found: nope", fails: true},
		{name: "a wrong key, echoed", status: 401, body: `{"error":{"message":"wrong: ` + key + `"}}`, want: "wrong: [redacted]", key: true, fails: true},
		{name: "forbidden, plain text", status: 403, body: `{"error":"not \u001b[31mallowed"}`, want: "allowed", key: true, fails: true},
		{name: "too many", status: 429, body: `{"message":"slow down"}`, want: "slow down"},
		{name: "moved", status: 302, body: ``, want: `redirects to "http://elsewhere/v1"`, fails: true},
		{name: "broken", status: 503, body: `<html>`, want: "the server at", fails: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/key" || r.Header.Get("Authorization") != "Bearer "+key {
					t.Errorf("asked for %s with %q", r.URL, r.Header.Get("Authorization"))
				}
				w.Header().Set("Location", "http://elsewhere/v1")
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			found, err := checkLogin(t.Context(), server.URL+"/v1", "/key", key)
			said := found.note
			if err != nil {
				said = err.Error()
			}
			if (err != nil) != tt.fails || errors.Is(err, errKeyRefused) != tt.key || !strings.Contains(said, tt.want) {
				t.Errorf("%v, %q", err, said)
			}
			if got := strings.Join(found.models, " "); got != tt.models || strings.Contains(said, key) || strings.Contains(said, "\x1b") {
				t.Errorf("models %q, said %q", got, said)
			}
		})
	}
}

// What a server writes where others have fixed words neither reaches the terminal raw nor
// holds the key.
func TestCheckLogin_Hostile(t *testing.T) {
	const key = "sk-canary-0123456789abcdef"
	for _, tt := range []struct{ name, answer, want string }{
		{"the reason of a status", "HTTP/1.1 429 \x1b[2J" + key + "\r\nContent-Length: 0\r\n\r\n", "limiting requests"},
		{"a long reason", "HTTP/1.1 500 " + strings.Repeat("x", 3000) + "\r\nContent-Length: 0\r\n\r\n", "fails (HTTP 500 xxx"},
		{"an address", "HTTP/1.1 302 Found\r\nLocation: http://x/" + key + "\r\nContent-Length: 0\r\n\r\n", "redirects to"},
		{"no header", "HTTP/1.1 200 OK\r\nBearer " + key + "\r\n\r\n", "no server can be reached"},
		{"no HTTP", "220 \x1b[2J " + key + "\r\n\r\n", "no server can be reached"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(conn, tt.answer)
				conn.Close()
			}))
			defer server.Close()
			found, err := checkLogin(t.Context(), server.URL+"/v1", "/key", key)
			said := found.note
			if err != nil {
				said = err.Error()
			}
			if !strings.Contains(said, tt.want) || strings.Contains(said, key) || strings.Contains(said, "\x1b") || len(said) > 500 {
				t.Errorf("said %q", said)
			}
		})
	}
}

// D1: a login that others can have written leads no conversation to their server.
func TestLogin_OfOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("mode bits mean nothing here")
	}
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, path string) error
	}{
		{"open to others", func(_ *testing.T, path string) error { return os.Chmod(path, 0o666) }},
		{"in a directory open to others", func(_ *testing.T, path string) error { return os.Chmod(filepath.Dir(path), 0o777) }},
		{"a link", func(t *testing.T, path string) error {
			there := filepath.Join(t.TempDir(), "server.json")
			return errors.Join(os.Rename(path, there), os.Symlink(there, path))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := loginCore(t, nil)
			if err := c.storeLogin(t.Context(), config.Login{BaseURL: "http://127.0.0.1:9/v1", Model: "m"}, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(c.sources, ""); err != nil {
				t.Fatal(err)
			}
			if err := tt.spoil(t, c.sources.LoginFile); err != nil {
				t.Fatal(err)
			}
			if backend, err := c.Backend(); err == nil || !strings.Contains(err.Error(), "cannot be used") {
				t.Errorf("%+v, %v", backend, err)
			}
		})
	}
}

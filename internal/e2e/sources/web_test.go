package sources

import (
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"acp-agent/internal/testkit/acptest"
)

// pages is a web server with faults. Private is another server's address, to
// which it redirects.
func pages(private string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<title>A page</title><h1>Heading</h1><p>Some <b>text</b>.<script>evil()</script>`)
	})
	for path, to := range map[string]string{"/private": private, "/metadata": "http://169.254.169.254/latest", "/localhost": "http://localhost:1/"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	}
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/bomb", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		zeros := make([]byte, 1<<20)
		for range 200 {
			if _, err := z.Write(zeros); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		for {
			if _, err := io.WriteString(w, strings.Repeat("endless text\n", 1000)); err != nil {
				return
			}
		}
	})
	return mux
}

// TestRobust_WebFetch is R82 with the real program: what the user granted is
// fetched, what is private is refused with no connection made, and what does not
// end is bounded.
func TestRobust_WebFetch(t *testing.T) {
	t.Parallel()
	var touched atomic.Int32
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	private := &httptest.Server{Listener: counting{listener, &touched}, Config: &http.Server{Handler: http.NotFoundHandler()}}
	private.Start()
	defer private.Close()
	server := httptest.NewServer(pages(private.URL))
	defer server.Close()

	home := t.TempDir()
	config := filepath.Join(home, ".config", "acp-agent", "config.jsonc")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	granted := strings.TrimPrefix(server.URL, "http://")
	if err := os.WriteFile(config, fmt.Appendf(nil, `{"web": {"private": [%q]}}`, granted), 0o600); err != nil {
		t.Fatal(err)
	}
	agent := acptest.Start(t, acptest.Options{
		Home: home, Permission: acptest.Answer("allow_once"),
		Model: `{"when": "^(.+)$", "call": [{"name": "web_fetch", "args": {"url": "${match.1}"}}]}
{"say": "seen"}
`,
	})
	agent.Initialize("")
	session := agent.NewSession(t.TempDir())
	for _, tc := range []struct{ url, status, want string }{
		{server.URL + "/page", "completed", "Some **text**."},
		{server.URL + "/private", "failed", "was not fetched"},
		{server.URL + "/metadata", "failed", "not a public address"},
		{server.URL + "/localhost", "failed", "was not fetched"},
		{server.URL + "/loop", "failed", "redirects"},
		{server.URL + "/bomb", "completed", "5242880 bytes"},
		{server.URL + "/endless", "completed", "truncated:true"},
		{private.URL + "/", "failed", "was not fetched"},
		{"http://169.254.169.254/latest", "failed", "not a public address"},
		{"http://[::ffff:127.0.0.1]:80/", "failed", "not a public address"},
		{"http://2130706433/", "failed", ""},
		{"file:///etc/passwd", "failed", "http"},
	} {
		turn := session.Prompt(tc.url)
		end := agent.Expect(tc.url, acptest.Update("tool_call_update", "status", tc.status))
		turn.Ends("end_turn")
		if text := fmt.Sprint(end.Get("params.update.rawOutput")); !strings.Contains(text, tc.want) || strings.Contains(text, "evil()") {
			t.Errorf("%s: %.300s, want %q in it", tc.url, text, tc.want)
		}
	}
	if n := touched.Load(); n != 0 {
		t.Errorf("%d connections were made to what is blocked", n)
	}
}

// counting counts the connections that a listener accepts.
type counting struct {
	net.Listener
	n *atomic.Int32
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

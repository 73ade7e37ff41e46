package sandbox

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"acp-agent/internal/testkit/testreq"
)

// hits is a web server that counts who reaches it.
func hits(t *testing.T) (address string, came *atomic.Int64) {
	t.Helper()
	came = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		came.Add(1)
		_, _ = w.Write([]byte("the page"))
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://"), came
}

// A command reaches a host that the user allows on a card that names it, once for all of its
// connections, and no other host (L1).
func TestEgress_ByHost(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		testreq.Skip(t, "curl is not installed")
	}
	server, came := hits(t)
	other, never := hits(t)
	w := startConfined(t, "bubblewrap", "", map[string]string{
		"fetch": "curl -sS http://" + server + "/ http://" + server + "/",
		"both":  "curl -sS http://" + other + "/; curl -sS --noproxy '*' http://" + other + "/",
	}, nil)
	if text := w.run(t, "fetch"); strings.Count(text, "the page") != 2 || came.Load() != 2 {
		t.Errorf("%d hits, the model read %s", came.Load(), text)
	}
	if card := w.card(); !strings.Contains(card, server) || !strings.Contains(card, "curl -sS") || !strings.Contains(card, "not on the public web") {
		t.Errorf("the card of the host is %s", card)
	}
	if len(w.cards) != 2 {
		t.Errorf("%d cards, want one of the command and one of the host: %q", len(w.cards), w.cards)
	}
	w.refuses("the command reaches for " + "127.0.0.1")
	if text := w.run(t, "both"); never.Load() > 0 || !strings.Contains(text, "The network is closed for "+other+": the user does not allow it.") {
		t.Errorf("%d hits, the model read %s", never.Load(), text)
	}
}

// What is allowed for the session is not asked about again, also beside a command that may not
// reach the host, and a program that passes the proxy by reaches nothing.
func TestEgress_Beside(t *testing.T) {
	t.Parallel()
	server, came := hits(t)
	fetch := "git ls-remote http://" + server + "/x"
	w := startConfined(t, "bubblewrap", "", map[string]string{
		"fetch": fetch, "script": "./net.sh " + server, "both": fetch + "; ls; ./net.sh " + server,
	}, map[string]string{"net.sh": "#!/bin/bash\n(exec 3<>/dev/tcp/${1/://}) 2>/dev/null || echo alone\n"})
	w.answers("allow_always")
	w.run(t, "fetch")
	w.run(t, "script")
	cards, hits := len(w.cards), came.Load()
	if hits == 0 || cards != 3 {
		t.Fatalf("%d hits and %d cards: %q", hits, cards, w.cards)
	}
	text := w.run(t, "both")
	if len(w.cards) > cards {
		t.Errorf("asked again: %s", w.card())
	}
	if came.Load() != 2*hits || !strings.Contains(text, "alone") {
		t.Errorf("%d hits, want %d; the model read %s", came.Load(), 2*hits, text)
	}
}

// Where the user has a proxy of their own, what passed goes through it.
func TestEgress_UsersProxy(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		testreq.Skip(t, "curl is not installed")
	}
	asked := make(chan string, 4)
	corporate := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Host
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n")
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nthe page")
		}
	}))
	t.Cleanup(corporate.Close)
	w := startConfined(t, "bubblewrap", "", map[string]string{"fetch": "curl -sS http://93.184.216.34/"}, nil, "HTTPS_PROXY="+corporate.URL)
	text := w.run(t, "fetch")
	if !strings.Contains(text, "the page") || len(asked) != 1 || <-asked != "93.184.216.34:80" {
		t.Errorf("the model read %s", text)
	}
	if card := w.card(); !strings.Contains(card, "the command reaches for 93.184.216.34:80") {
		t.Errorf("the card of the host is %s", card)
	}
}

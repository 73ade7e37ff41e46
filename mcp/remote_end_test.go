package mcp_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	goruntime "runtime"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/mcp"
)

// Nothing is left of a connection to a server behind HTTP after Close, neither of one that
// worked nor of one that was refused.
func TestRemote_NothingIsLeft(t *testing.T) {
	for name, handler := range map[string]http.Handler{
		"of one that worked":      sdk.NewStreamableHTTPHandler(greeter, nil),
		"of one that was refused": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }),
		"of one that failed":      http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }),
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			open, seen := map[net.Conn]bool{}, 0
			server := httptest.NewUnstartedServer(handler)
			track := server.Config.ConnState
			server.Config.ConnState = func(c net.Conn, state http.ConnState) {
				mu.Lock()
				defer mu.Unlock()
				switch state {
				case http.StateNew:
					open[c] = true
					seen++
				case http.StateClosed, http.StateHijacked:
					delete(open, c)
				}
				if track != nil {
					track(c, state)
				}
			}
			server.Start()
			defer server.Close()
			m := mcp.New(mcp.Options{})
			m.Set([]mcp.Server{{Name: "s", URL: server.URL}})
			m.Settle(t.Context(), time.Time{})
			m.Close()
			left := func() int {
				mu.Lock()
				defer mu.Unlock()
				return len(open)
			}
			for end := time.Now().Add(10 * time.Second); left() > 0 && time.Now().Before(end); {
				goruntime.Gosched() // the server learns of the end by itself
			}
			if n := left(); n > 0 || seen == 0 {
				t.Errorf("%d of %d connections are left", n, seen)
			}
		})
	}
}

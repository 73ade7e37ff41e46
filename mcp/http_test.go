package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/mcp"
	"acp-agent/tools"
)

// greeter is a server of the library's own, for what is said over HTTP.
func greeter(*http.Request) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet", Description: "Greets."}, func(context.Context, *sdk.CallToolRequest, struct {
		A int `json:"a"`
	},
	) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello"}}}, nil, nil
	})
	return server
}

// R88, R92: servers behind HTTP in both transports are used, are sent their headers, and say when
// they refuse us; an address that leads elsewhere is not followed, and gets no header.
func TestRemote(t *testing.T) {
	var leaked, reached atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		leaked.Store(leaked.Load() || r.Header.Get("X-Key") != "")
		reached.Store(true)
	}))
	defer elsewhere.Close()
	guarded := func(to http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Key") != "secret" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			to.ServeHTTP(w, r)
		})
	}
	mux := http.NewServeMux()
	mux.Handle("/http", guarded(sdk.NewStreamableHTTPHandler(greeter, nil)))
	mux.Handle("/sse", guarded(sdk.NewSSEHandler(greeter, nil)))
	mux.Handle("/away", http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	mux.Handle("/round", http.RedirectHandler("/round", http.StatusTemporaryRedirect))
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, err := w.Write([]byte("{")); err == nil; {
			_, err = w.Write(make([]byte, 1<<16))
		}
	})
	mux.HandleFunc("/second", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: %s/\n\n", elsewhere.URL)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	server := httptest.NewServer(mux)
	defer func() {
		server.CloseClientConnections()
		server.Close()
	}()
	key := map[string]string{"X-Key": "secret"}
	for _, tt := range []struct {
		name    string
		server  mcp.Server
		state   mcp.State
		problem string
	}{
		{"http", mcp.Server{URL: server.URL + "/http", Header: key}, mcp.Ready, ""},
		{"sse", mcp.Server{URL: server.URL + "/sse", Header: key, SSE: true}, mcp.Ready, ""},
		{"without the key", mcp.Server{URL: server.URL + "/http"}, mcp.Failed, "authentication failed"},
		{"another host", mcp.Server{URL: server.URL + "/away?key=hidden", Header: key}, mcp.Failed, "it leads to another host, " + elsewhere.Listener.Addr().String()},
		{"another host for what is sent", mcp.Server{URL: server.URL + "/second", Header: key, SSE: true}, mcp.Failed, "it leads to another host, " + elsewhere.Listener.Addr().String()},
		{"round and round", mcp.Server{URL: server.URL + "/round"}, mcp.Failed, "it leads on more than 10 times"},
		{"an answer without end", mcp.Server{URL: server.URL + "/endless"}, mcp.Failed, "it sent a message of more than 16 MiB"},
		{"nothing at all", mcp.Server{}, mcp.Failed, "it has neither a command nor an address"},
		{"no address", mcp.Server{URL: "ftp://example.com"}, mcp.Failed, "its address is no http or https address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := mcp.New(mcp.Options{})
			defer m.Close()
			tt.server.Name = "s"
			m.Set([]mcp.Server{tt.server})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			m.Settle(ctx, time.Time{})
			if got := m.Status()[0]; got.State != tt.state || got.Problem != tt.problem {
				t.Fatalf("it is %s, %q; want %s, %q", got.State, got.Problem, tt.state, tt.problem)
			}
			if tt.state == mcp.Ready {
				if result, err := run(t, ctx, m, "mcp__s__greet", &runtime{}); err != nil || fmt.Sprint(result.Data) != "hello" {
					t.Errorf("%+v, %v", result, err)
				}
			}
		})
	}
	if leaked.Load() {
		t.Error("the key went to another host")
	}
	if reached.Load() {
		t.Error("another host was asked")
	}
}

// A server that refuses one call has not refused later calls, which it answers
// with an error of another kind.
func TestRemote_RefusesOneCall(t *testing.T) {
	calls := 0
	to := sdk.NewStreamableHTTPHandler(greeter, &sdk.StreamableHTTPOptions{Stateless: true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &asked) // a request without a body goes on
		if r.Body = io.NopCloser(bytes.NewReader(body)); asked.Method != "tools/call" {
			to.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusForbidden)
		}
		fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": %s, "error": {"code": -32000, "message": "no such row"}}`, asked.ID)
	}))
	defer server.Close()
	m := mcp.New(mcp.Options{})
	defer m.Close()
	m.Set([]mcp.Server{{Name: "s", URL: server.URL}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m.Settle(ctx, time.Time{})
	for i, want := range []string{"mcp server s: authentication failed", "mcp server s: no such row"} {
		_, err := run(t, ctx, m, "mcp__s__greet", &runtime{})
		if failure, ok := errors.AsType[*tools.Error](err); !ok || failure.Message != want {
			t.Errorf("call %d: %v, want %s", i, err, want)
		}
	}
}

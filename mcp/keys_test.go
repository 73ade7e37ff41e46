package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"acp-agent/mcp"
	"acp-agent/tools"
)

// D3: which of what a server is given is a key.
func TestServer_Keys(t *testing.T) {
	tests := []struct {
		name   string
		server mcp.Server
		want   []string
	}{
		{"a bearer token", mcp.Server{Header: map[string]string{"Authorization": "Bearer tok-12345"}}, []string{"Bearer tok-12345", "tok-12345"}},
		{"a password", mcp.Server{Header: map[string]string{"authorization": "Basic YW5uOnBhc3N3MHJk"}}, []string{"Basic YW5uOnBhc3N3MHJk", "YW5uOnBhc3N3MHJk", "passw0rd"}},
		{"a header of any name", mcp.Server{Header: map[string]string{"X-Team": "0123456789abcdef", "X-Mode": "read-only"}}, []string{"0123456789abcdef"}},
		{"variables", mcp.Server{Env: []string{"API_KEY=key-12345", "DB_PASS=secret-1", "LANG=en_GB.UTF-8", "HOME=/home/user0001"}}, []string{"key-12345", "secret-1"}},
		{"where a key lies is none", mcp.Server{Env: []string{"TOKEN_FILE=/run/token/01", "AUTH_URL=http://auth.example:8080/x"}}, nil},
		{"an ordinary word is none", mcp.Server{Header: map[string]string{"X-Auth-Mode": "required"}, Env: []string{"KEY=short1"}}, nil},
		{"the password of an address", mcp.Server{Env: []string{"DATABASE=postgres://ann:s3cret-pw@db.example/x"}, URL: "https://t0ken-of-ann@h.example/"}, []string{"s3cret-pw", "t0ken-of-ann"}},
		{"the query of an address", mcp.Server{URL: "https://h.example/mcp?api_key=key-12345&v=20250618"}, []string{"key-12345"}},
		{"arguments", mcp.Server{Args: []string{"--token=tok-12345", "--api-key", "key-12345", "-H", "Authorization: Bearer tok-67890", "PASSWORD=passw0rd", "--port", "80808080"}}, []string{"tok-12345", "key-12345", "Bearer tok-67890", "tok-67890", "passw0rd"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.server.Keys()); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

const canary = "canary-k0r1\"p2q3"

// everything is all that people, models and the log are told of a server.
func everything(t *testing.T, m *mcp.Manager, log *bytes.Buffer) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n%s", m.Status(), log)
	list, _ := m.Tools()
	for _, tool := range list {
		schema, err := json.Marshal(tool.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, tool.ID, tool.Description, string(schema), tool.Provenance().Place)
		rt := &runtime{}
		result, err := tool.Run(t.Context(), rt, tools.NewArgs(`{}`))
		fmt.Fprintln(&b, err, rt.text.String())
		if result != nil {
			raw, err := json.Marshal(result)
			fmt.Fprintln(&b, string(raw), err)
		}
	}
	return b.String()
}

// silent checks that a key stands nowhere, in whatever spelling, and that what stood around
// it does.
func silent(t *testing.T, text string, marks ...string) {
	t.Helper()
	for _, part := range []string{"canary", "k0r1", "p2q3"} {
		if at := strings.Index(text, part); at >= 0 {
			t.Errorf("a key is shown: %q", text[max(0, at-60):min(len(text), at+60)])
		}
	}
	for _, mark := range marks {
		if !strings.Contains(text, mark) {
			t.Errorf("%q is missing of %s", mark, text)
		}
	}
}

// D3, R92: a program that repeats the key which it was given is heard without it: in its
// list, a result, structured or not, an error, progress, and its stderr tail.
func TestKeys_OfPrograms(t *testing.T) {
	log := &bytes.Buffer{}
	f := &fake{tools: []object{
		{"name": "read", "description": "Reads with " + canary, "inputSchema": object{"type": "object", "properties": object{"a": object{"description": canary}}}},
		{"name": "fail " + canary, "description": "Fails.", "inputSchema": object{"type": "object"}},
		{"name": "nothing " + canary, "inputSchema": "none"},
	}}
	f.call = func(l *life, _ json.RawMessage, name string, params object) (any, error) {
		if strings.HasPrefix(name, "fail") {
			return nil, errors.New("it failed with " + canary)
		}
		token := params["_meta"].(object)["progressToken"]
		l.notify("notifications/progress", object{"progressToken": token, "progress": 1, "message": "half of " + canary})
		return object{"content": []object{{"type": "text", "text": "row of " + canary}}, "structuredContent": object{canary: []string{canary}}}, nil
	}
	dying := &fake{start: func(int, io.Writer) error { return errors.New("error: refused " + canary) }}
	fakes := map[string]*fake{"s": f, "dying": dying}
	m := mcp.New(mcp.Options{
		Logger: slog.New(slog.NewTextHandler(log, nil)),
		Start: func(_ context.Context, s mcp.Server, stderr io.Writer) (io.ReadWriteCloser, error) {
			return fakes[s.Command].serve(stderr), nil
		},
	})
	defer m.Close()
	env := []string{"S_TOKEN=" + canary}
	m.Set([]mcp.Server{{Name: "s", Command: "s", Env: env}, {Name: "dying", Command: "dying", Env: env}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	m.Settle(ctx, time.Time{})
	silent(t, everything(t, m, log), "Reads with [redacted]", "row of [redacted]", "it failed with [redacted]", "refused [redacted]")
}

// D3, R92: the same of a server behind HTTP, in both transports, that repeats its header, also
// in pieces, and in the text of a refusal.
func TestKeys_OfAddresses(t *testing.T) {
	echo := func(r *http.Request) *sdk.Server {
		key := r.Header.Get("Authorization")
		server := sdk.NewServer(&sdk.Implementation{Name: "echo", Version: "1"}, nil)
		sdk.AddTool(server, &sdk.Tool{Name: "echo", Description: "Echoes " + key}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "row of " + key}}}, nil, nil
		})
		return server
	}
	mux := http.NewServeMux()
	mux.Handle("/http", sdk.NewStreamableHTTPHandler(echo, nil))
	mux.Handle("/sse", sdk.NewSSEHandler(echo, nil))
	mux.Handle("/pieces", inPieces{sdk.NewStreamableHTTPHandler(echo, nil)})
	mux.HandleFunc("/refuses", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no "+r.Header.Get("Authorization")+" here", http.StatusInternalServerError)
	})
	server := httptest.NewServer(mux)
	defer func() {
		server.CloseClientConnections()
		server.Close()
	}()
	for _, tt := range []struct {
		path string
		sse  bool
		mark []string
	}{{"/http", false, []string{"row of [redacted]"}}, {"/sse", true, []string{"row of [redacted]"}}, {"/pieces", false, []string{"row of [redacted]"}}, {"/refuses", false, nil}} {
		t.Run(tt.path, func(t *testing.T) {
			log := &bytes.Buffer{}
			m := mcp.New(mcp.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
			defer m.Close()
			m.Set([]mcp.Server{{Name: "s", URL: server.URL + tt.path + "?key=canary-k0r1-p2q3", SSE: tt.sse, Header: map[string]string{"Authorization": "Bearer " + canary}}})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			m.Settle(ctx, time.Time{})
			silent(t, everything(t, m, log), tt.mark...)
		})
	}
}

// inPieces sends a few bytes at a time.
type inPieces struct{ http.Handler }

func (p inPieces) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Handler.ServeHTTP(pieces{w}, r)
}

type pieces struct{ http.ResponseWriter }

func (p pieces) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var sent int
		sent, err = p.ResponseWriter.Write(b[n:min(n+5, len(b))])
		p.Flush()
		n += sent
	}
	return n, err
}

func (p pieces) Flush() { p.ResponseWriter.(http.Flusher).Flush() }

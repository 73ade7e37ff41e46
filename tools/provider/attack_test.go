package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/tools"
	"acp-agent/tools/provider"
	"acp-agent/tools/tooltest"
)

// R94: whatever an address answers to a call, the call ends, with what went wrong, and the
// next one works.
func TestService_HTTPAttacks(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for name, tt := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request, id int)
		want   string
	}{
		"another id": {func(w http.ResponseWriter, _ *http.Request, id int) { fmt.Fprintf(w, `{"id":%d,"result":1}`, id+1) }, "it answered another request"},
		"no id":      {func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, `{"result":1}`) }, "it answered another request"},
		"two answers": {func(w http.ResponseWriter, _ *http.Request, id int) {
			fmt.Fprintf(w, `{"id":%d,"result":1}{"id":%d,"result":2}`, id, id)
		}, "it did not answer with JSON-RPC"},
		"no answer":    {func(http.ResponseWriter, *http.Request, int) {}, "it did not answer with JSON-RPC"},
		"a web page":   {func(w http.ResponseWriter, _ *http.Request, _ int) { fmt.Fprint(w, "<html>") }, "it did not answer with JSON-RPC"},
		"a hanging-up": {func(http.ResponseWriter, *http.Request, int) { panic(http.ErrAbortHandler) }, "it cannot be reached"},
		"another place": {func(w http.ResponseWriter, r *http.Request, _ int) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "HTTP status 307"},
		"an endless answer": {func(w http.ResponseWriter, r *http.Request, _ int) {
			for text := []byte(strings.Repeat("x", 1<<16)); r.Context().Err() == nil; {
				if _, err := w.Write(text); err != nil {
					return
				}
			}
		}, "more than 16 MiB"},
		"silence": {func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var well atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var a asked
				if err := json.NewDecoder(r.Body).Decode(&a); err != nil || a.ID == nil {
					t.Errorf("request %+v, %v", a, err)
					return
				}
				if a.Method == "tools/execute" && !well.Load() {
					tt.answer(w, r, int(*a.ID))
					return
				}
				fmt.Fprintln(w, usual(echoTool, func(string) string { return `"well"` })(a)[0])
			}))
			defer server.Close()
			s := provider.New([]provider.Config{{Name: "x", Type: "http", URL: server.URL}}, provider.Options{})
			defer s.Close()
			settled(t, s)
			list, _ := s.Tools()
			if len(list) != 1 {
				t.Fatalf("problems %v", s.Problems())
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.want == "" { // nothing comes, and the caller may leave
				time.AfterFunc(10*time.Millisecond, cancel)
			}
			_, err := list[0].Run(ctx, tooltest.New(tooltest.Options{}), tools.NewArgs(`{}`))
			var failure *tools.Error
			if tt.want == "" && !errors.Is(err, context.Canceled) || tt.want != "" && (!errors.As(err, &failure) || !strings.Contains(failure.Message, tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			well.Store(true)
			if result, err := run(t, s, "tb__x__echo", `{}`); err != nil || result.ModelText() != "well" {
				t.Errorf("the next call: %+v, %v", result, err)
			}
		})
	}
	if elsewhere.Load() > 0 {
		t.Error("a redirect was followed")
	}
}

// A program that says without end that its tools have changed is asked a few times a second,
// and delays no one.
func TestService_ChangesWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &program{}
		var lists atomic.Int32
		p.answer = func(a asked) []string {
			if a.Method != "tools/list" {
				return usual(echoTool, nil)(a)
			}
			n := lists.Add(1)
			return append(usual(strings.ReplaceAll(echoTool, "again", fmt.Sprint("again", n)), nil)(a), `{"jsonrpc":"2.0","method":"tools/changed"}`)
		}
		s := provider.New([]provider.Config{{Name: "x", Type: "stdio", Command: "x"}}, provider.Options{Start: p.start})
		start := time.Now()
		settled(t, s)
		for time.Since(start) < 900*time.Millisecond {
			s.Begin()
			s.Settle(t.Context(), time.Time{})
			time.Sleep(20 * time.Millisecond)
		}
		s.Close()
		if n := lists.Load(); n < 4 || n > 8 {
			t.Errorf("asked %d times in a second", n)
		}
	})
}

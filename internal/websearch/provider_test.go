package websearch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/websearch"
)

// over makes requests with an ordinary client that follows no redirects.
func over(client *http.Client) websearch.Do {
	return func(ctx context.Context, r websearch.Request) (*websearch.Response, error) {
		req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
		if err != nil {
			return nil, err
		}
		for name, value := range r.Header {
			req.Header.Set(name, value)
		}
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		return &websearch.Response{Status: res.StatusCode, Body: body, Redirect: res.Header.Get("Location")}, err
	}
}

// seen is what a server was asked.
type seen struct {
	Method, Path, Key, Auth string
	Query                   url.Values
	Body                    string
}

// serve starts a server that gives one answer.
func serve(t *testing.T, status int, answer string) (*httptest.Server, *seen) {
	t.Helper()
	var got seen
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = seen{
			Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Body: string(body),
			Key: r.Header.Get("X-Subscription-Token"), Auth: r.Header.Get("Authorization"),
		}
		if status/100 == 3 {
			w.Header().Set("Location", "http://169.254.169.254/")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return server, &got
}

func provider(t *testing.T, c websearch.Config) websearch.Provider {
	t.Helper()
	p, err := websearch.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProvider_Search(t *testing.T) {
	t.Parallel()
	const listed = `{"query":"q","results":[
		{"title":"Go <b>blog</b>","url":"https://go.dev/blog","content":"About&nbsp;<strong>Go</strong> &lt;T&gt;","engine":"x"},
		{"title":"again","url":"http://GO.dev/blog/#top","content":"same page"},
		{"title":"two","url":"https://two.example/?a=1","content":null},
		{"title":"three","url":"https://three.example/","content":"over the limit"}]}`
	want := []websearch.Result{
		{Title: "Go blog", URL: "https://go.dev/blog", Snippet: "About Go <T>"},
		{Title: "two", URL: "https://two.example/?a=1"},
	}
	tests := []struct {
		name, path, answer string
		config             websearch.Config
		want               seen
	}{
		{
			"searxng", "", listed,
			websearch.Config{Type: "searxng"},
			seen{Method: "GET", Path: "/search", Query: url.Values{"q": {"go & co"}, "format": {"json"}}},
		},
		{
			"searxng below a path", "/searx/", listed,
			websearch.Config{Type: "searxng"},
			seen{Method: "GET", Path: "/searx/search", Query: url.Values{"q": {"go & co"}, "format": {"json"}}},
		},
		{
			"brave", "/res/v1/web/search", `{"type":"search","web":` + strings.ReplaceAll(listed, `"content"`, `"description"`) + `}`,
			websearch.Config{Type: "brave", Key: "k1"},
			seen{Method: "GET", Path: "/res/v1/web/search", Key: "k1", Query: url.Values{"q": {"go & co"}, "count": {"2"}}},
		},
		{
			"tavily", "/search", listed,
			websearch.Config{Type: "tavily", Key: "k2"},
			seen{Method: "POST", Path: "/search", Auth: "Bearer k2", Query: url.Values{}, Body: `{"max_results":2,"query":"go \u0026 co"}`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server, got := serve(t, http.StatusOK, tt.answer)
			tt.config.URL = server.URL + tt.path
			p := provider(t, tt.config)
			results, err := p.Search(t.Context(), over(server.Client()), "go & co", 2)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, results); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if p.Name() != tt.config.Type || "http://"+p.Endpoint() != server.URL {
				t.Errorf("%s at %s, want %s at %s", p.Name(), p.Endpoint(), tt.config.Type, server.URL)
			}
		})
	}
}

func TestProvider_Failures(t *testing.T) {
	t.Parallel()
	const key = "canary-key"
	tests := []struct {
		name   string
		status int
		answer string
		is     error
		want   string
	}{
		{"unauthorised", 401, `{"error":"bad key canary-key"}`, websearch.ErrAuth, "authentication failed (status 401)"},
		{"forbidden", 403, "canary-key", websearch.ErrAuth, "authentication failed (status 403)"},
		{"too many", 429, "slow down", websearch.ErrRateLimited, "rate limited (status 429)"},
		{"broken", 500, "stack trace", nil, "answered with status 500"},
		{"not JSON", 200, "<html>", nil, "not the JSON"},
		{"other JSON", 200, `{"results":7,"web":7}`, nil, "not the JSON"},
		{"redirect", 302, "", nil, "redirect"},
	}
	for _, kind := range []string{"searxng", "brave", "tavily"} {
		for _, tt := range tests {
			t.Run(kind+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				server, _ := serve(t, tt.status, tt.answer)
				client := server.Client()
				client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
				c := websearch.Config{Type: kind, URL: server.URL, Key: key}
				if kind == "searxng" {
					c.Key = ""
				}
				results, err := provider(t, c).Search(t.Context(), over(client), "q", 5)
				if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
					t.Fatalf("Search = %v, %v; want an error with %q", results, err, tt.want)
				}
				if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "stack trace") {
					t.Errorf("the error repeats the body: %v", err)
				}
			})
		}
	}
}

func TestProvider_Empty(t *testing.T) {
	t.Parallel()
	for _, c := range []websearch.Config{{Type: "searxng"}, {Type: "brave", Key: "k"}, {Type: "tavily", Key: "k"}} {
		server, _ := serve(t, http.StatusOK, `{}`)
		c.URL = server.URL
		results, err := provider(t, c).Search(t.Context(), over(server.Client()), "q", 5)
		if raw, _ := json.Marshal(results); err != nil || string(raw) != "[]" {
			t.Errorf("%s: %s, %v; want an empty list", c.Type, raw, err)
		}
	}
}

func TestProvider_Cut(t *testing.T) {
	t.Parallel()
	p := provider(t, websearch.Config{Type: "searxng", URL: "https://s.example"})
	cut := func(context.Context, websearch.Request) (*websearch.Response, error) {
		return &websearch.Response{Status: 200, Body: []byte(`{"results":[]}`), Cut: true}, nil
	}
	if _, err := p.Search(t.Context(), cut, "q", 5); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("error = %v, want too large", err)
	}
	down := errors.New("connection refused")
	failing := func(context.Context, websearch.Request) (*websearch.Response, error) { return nil, down }
	if _, err := p.Search(t.Context(), failing, "q", 5); !errors.Is(err, down) {
		t.Errorf("error = %v, want %v", err, down)
	}
}

package websearch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/websearch"
)

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config websearch.Config
		want   string
	}{
		{"no type", websearch.Config{}, `"": the types are searxng, brave, tavily and scripted`},
		{"unknown type", websearch.Config{Type: "bing"}, `"bing"`},
		{"no url", websearch.Config{Type: "searxng"}, "url must be an http or https address"},
		{"no host", websearch.Config{Type: "searxng", URL: "http://:80"}, "http or https"},
		{"another scheme", websearch.Config{Type: "searxng", URL: "file:///etc"}, "http or https"},
		{"a password in the url", websearch.Config{Type: "searxng", URL: "http://me:canary@s.example"}, "no user"},
		{"a query in the url", websearch.Config{Type: "searxng", URL: "http://s.example/?x=canary"}, "no user, query"},
		{"searxng with a key", websearch.Config{Type: "searxng", URL: "http://s.example", Key: "canary"}, "no key"},
		{"no key", websearch.Config{Type: "brave"}, "key is missing"},
		{"a key of two lines", websearch.Config{Type: "tavily", Key: "canary\nX: y"}, "characters that no key has"},
		{"a key in the clear", websearch.Config{Type: "brave", Key: "canary", URL: "http://proxy.example"}, "must be https"},
		{"a file", websearch.Config{Type: "brave", Key: "canary", File: "x"}, "no file"},
		{"no script", websearch.Config{Type: "scripted", File: "missing.json"}, "missing.json"},
		{"scripted with a key", websearch.Config{Type: "scripted", File: "x", Key: "canary"}, "no key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := websearch.New(tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("New = %v, %v; want an error with %q", p, err, tt.want)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error repeats a secret: %v", err)
			}
		})
	}
}

func TestNew_Endpoints(t *testing.T) {
	t.Parallel()
	tests := []struct {
		config websearch.Config
		want   string
	}{
		{websearch.Config{Type: "searxng", URL: "http://Search.Example"}, "search.example:80"},
		{websearch.Config{Type: "searxng", URL: "https://search.example/x"}, "search.example:443"},
		{websearch.Config{Type: "searxng", URL: "http://[::1]:8888"}, "[::1]:8888"},
		{websearch.Config{Type: "brave", Key: "k"}, "api.search.brave.com:443"},
		{websearch.Config{Type: "tavily", Key: "k"}, "api.tavily.com:443"},
		{websearch.Config{Type: "tavily", Key: "k", URL: "http://localhost:9"}, "localhost:9"},
	}
	for _, tt := range tests {
		if got := provider(t, tt.config).Endpoint(); got != tt.want {
			t.Errorf("endpoint of %s %s = %q, want %q", tt.config.Type, tt.config.URL, got, tt.want)
		}
	}
}

// script writes a script and opens it.
func script(t *testing.T, text string) (websearch.Provider, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "search.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return websearch.New(websearch.Config{Type: "scripted", File: file})
}

func TestScripted(t *testing.T) {
	t.Parallel()
	p, err := script(t, `{
		"go": {"results": [{"title": "Go", "url": "https://go.dev/", "snippet": "a language"}]},
		"slow": {"delay": "20s"},
		"down": {"error": "the engine is down"},
		"*": {"results": [{"title": "any", "url": "https://any.example/", "snippet": ""}]}
	}`)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		results, err := p.Search(t.Context(), nil, "go", 5)
		want := []websearch.Result{{Title: "Go", URL: "https://go.dev/", Snippet: "a language"}}
		if diff := cmp.Diff(want, results); diff != "" || err != nil {
			t.Errorf("results (-want +got), %v:\n%s", err, diff)
		}
		if results, err = p.Search(t.Context(), nil, "else", 5); err != nil || len(results) != 1 || results[0].Title != "any" {
			t.Errorf("results = %v, %v", results, err)
		}
		if _, err = p.Search(t.Context(), nil, "down", 5); err == nil || !strings.Contains(err.Error(), "the engine is down") {
			t.Errorf("error = %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 15e9)
		defer cancel()
		if _, err = p.Search(ctx, nil, "slow", 5); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v, want the deadline", err)
		}
	})
	for _, bad := range []string{`[`, `{"a":{"delay":"soon"}}`} {
		if p, err := script(t, bad); err == nil {
			t.Errorf("script %s gave %v", bad, p)
		}
	}
}

package preset

import (
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
)

// Each file is read, offered once, and complete.
func TestFiles(t *testing.T) {
	entries, err := os.ReadDir("presets")
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(order) || len(All()) != len(order) {
		t.Fatalf("%d files, %d names, %d presets", len(entries), len(order), len(All()))
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".jsonc")
		p, err := read(name)
		if err != nil || !slices.Contains(order, name) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if p.Title == "" || len(p.Sources) == 0 || p.Check == "" || p.Thinking == "" {
			t.Errorf("%s lacks a field: %+v", name, p)
		}
		if p.NeedsKey == p.Local || p.NeedsKey != (p.KeyEnv != "") || p.NeedsKey != (p.KeyURL != "") {
			t.Errorf("%s: which key does it need?", name)
		}
		if !slices.Contains(Dialects(), p.Thinking) {
			t.Errorf("%s: dialect %q", name, p.Thinking)
		}
		if !slices.Contains(append(APIs(), ""), p.API) {
			t.Errorf("%s: API %q", name, p.API)
		}
		if u, err := url.Parse(p.BaseURL); p.BaseURL != "" && (err != nil || u.Host == "" || strings.HasSuffix(p.BaseURL, "/") || p.Local == (u.Scheme == "https")) {
			t.Errorf("%s: address %q, %v", name, p.BaseURL, err)
		}
	}
}

func TestFindAndAt(t *testing.T) {
	for _, p := range All() {
		if found, ok := Find(p.Name); !ok || found.Title != p.Title {
			t.Errorf("%s is not found", p.Name)
		}
		if at, ok := At(p.BaseURL + "/"); ok != (p.BaseURL != "") || ok && at.Name != p.Name {
			t.Errorf("%s at %q is %s", p.Name, p.BaseURL, at.Name)
		}
	}
	if _, ok := Find("none"); ok {
		t.Error("none is found")
	}
	router, _ := Find("openrouter")
	if !router.Caches("anthropic/claude-opus-5") || router.Caches("openai/gpt-5.4") {
		t.Error("the wrong models are cached")
	}
}

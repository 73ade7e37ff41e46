package lsp

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/testkit/testreq"
)

// TestGopls asks a real server (R98).
func TestGopls(t *testing.T) {
	if _, err := exec.LookPath("gopls"); err != nil {
		testreq.Skip(t, "gopls is not installed")
	}
	g := newGround(t, "", func(o *Options) {
		o.Servers = nil
		o.StartWait, o.PublishWait, o.Settle = time.Minute, time.Minute, 2*time.Second
	})
	g.put(t, "go.mod", "module example.com/m\n\ngo 1.21\n")
	const text = "package m\n\n/* 世界𝄞 */ func Hello() string { return name() }\n\nfunc Twice() string { return Hello() + Hello() }\n"
	hello := g.put(t, "hello.go", text)
	other := g.put(t, "other.go", "package m\n\nfunc name() string { return \"x\" }\n")

	t.Run("definition in another file", func(t *testing.T) {
		column := 1 + len([]rune("/* 世界𝄞 */ func Hello() string { return "))
		got, err := g.Ask(t.Context(), Query{Operation: Definitions, Path: hello, Line: 3, Column: column, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		want := &Answer{Server: "gopls", Locations: []Location{{Path: other, Line: 3, Column: 6}}}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("references, counted in characters", func(t *testing.T) {
		got, err := g.Ask(t.Context(), Query{Operation: References, Path: hello, Line: 5, Column: 31, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		want := []Location{{hello, 3, 16}, {hello, 5, 30}, {hello, 5, 40}}
		if d := cmp.Diff(want, got.Locations); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
	})
	t.Run("findings in the text that the person sees", func(t *testing.T) {
		for _, broken := range []string{"undefined_a", "undefined_b"} {
			seen := strings.Replace(text, "name()", broken+"()", 1)
			got, err := g.Ask(t.Context(), Query{Operation: Diagnostics, Path: hello, Text: seen})
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Diagnostics) == 0 || got.Diagnostics[0].Message != "undefined: "+broken || got.Diagnostics[0].Line != 3 || got.Diagnostics[0].Column != 40 {
				t.Errorf("diagnostics %+v", got.Diagnostics)
			}
		}
		got, err := g.Ask(t.Context(), Query{Operation: Diagnostics, Path: hello, Text: text})
		if err != nil || len(got.Diagnostics) != 0 {
			t.Errorf("of the good text: %+v, %v", got, err)
		}
	})
	t.Run("a file that changed on disk", func(t *testing.T) {
		g.put(t, "other.go", "package m\n\nfunc renamed() string { return \"x\" }\n")
		g.Changed(other)
		got, err := g.Ask(t.Context(), Query{Operation: Diagnostics, Path: hello, Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Diagnostics) != 1 || got.Diagnostics[0].Message != "undefined: name" {
			t.Errorf("diagnostics %+v", got.Diagnostics)
		}
	})
	t.Run("one that cannot be asked publishes", func(t *testing.T) {
		servers := DefaultServers()[:1]
		servers[0].Options = nil
		g := newGround(t, "", func(o *Options) {
			o.Servers, o.Settle, o.PublishWait = servers, 2*time.Second, time.Minute
		})
		g.put(t, "go.mod", "module example.com/m\n\ngo 1.21\n")
		const text = "package m\n\nfunc f() int { return missing }\n"
		got, err := g.Ask(t.Context(), Query{Operation: Diagnostics, Path: g.put(t, "f.go", text), Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Diagnostics) != 1 || got.Diagnostics[0].Message != "undefined: missing" {
			t.Errorf("diagnostics %+v", got.Diagnostics)
		}
	})
	if n := g.count(); n != 1 {
		t.Errorf("%d servers were started, want 1", n)
	}
}

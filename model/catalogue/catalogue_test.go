package catalogue

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The figures are those of the pinned list; they move when it is raised.
func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name, provider, id string
		want               Entry
	}{
		{"own entry", "deepseek", "deepseek-v4-pro", Entry{
			ID: "deepseek-v4-pro", Name: "DeepSeek V4 Pro", Window: 1_000_000, Output: 384_000, Listed: true, Reasons: true,
			Levels: []Level{{Off, Off}, {"high", "high"}, {"max", "max"}}, Prices: []Price{{Input: 1.32, Output: 3.96, CacheRead: 0.044}},
		}},
		{"a level by another name", "groq", "qwen/qwen3.6-27b", Entry{
			ID: "qwen/qwen3.6-27b", Name: "Qwen3.6 27B", Window: 131_072, Output: 16_384, Listed: true, Images: true, Reasons: true,
			Levels: []Level{{Off, "none"}, {"high", "default"}}, Prices: []Price{{Input: 0.6, Output: 3, CacheRead: 0.3}},
		}},
		{"a snapshot with a date", "openai", "gpt-4.1-nano-2025-04-14", Entry{
			ID: "gpt-4.1-nano-2025-04-14", Name: "GPT-4.1 nano", Window: 1_047_576, Output: 32_768, Listed: true, Images: true,
			Prices: []Price{{Input: 0.1, Output: 0.4, CacheRead: 0.025}},
		}},
		{"a snapshot with an entry", "openai", "gpt-4o-2024-05-13", Entry{
			ID: "gpt-4o-2024-05-13", Name: "GPT-4o (2024-05-13)", Window: 128_000, Output: 4_096, Listed: true, Images: true,
			Prices: []Price{{Input: 5, Output: 15}},
		}},
		{"at a server of the user's", "", "GPT-4.1", Entry{ID: "GPT-4.1", Window: 1_047_576, Output: 32_768, Images: true}},
		{"after an owner", "my-proxy", "zai/glm-4.7", Entry{
			ID: "zai/glm-4.7", Window: 204_800, Output: 131_072, Reasons: true, Levels: []Level{{Off, Off}, {On, On}},
		}},
		{"a family", "openai", "gpt-3.5-turbo-16k", Entry{ID: "gpt-3.5-turbo-16k", Window: 16_385, Output: 4_096}},
		{"a whole id without its date", "", "claude-sonnet-4-20250514", Entry{ID: "claude-sonnet-4-20250514", Window: 200_000, Images: true}},
		{"no whole id", "", "claude-sonnet-4.9", Entry{ID: "claude-sonnet-4.9", Images: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Find(tt.provider, tt.id)
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" || !ok {
				t.Errorf("%t (-want +got)\n%s", ok, diff)
			}
		})
	}
	for _, id := range []string{"", "mystery", "gpt", "deepseek-v4-pro-max", "qwen3:8b"} {
		if got, ok := Find("deepseek", id); ok {
			t.Errorf("%q is taken for %+v", id, got)
		}
	}
}

func TestPriceOf(t *testing.T) {
	e, _ := Find("openai", "gpt-5.4")
	small, _ := e.PriceOf(1000)
	large, ok := e.PriceOf(272_001)
	if !ok || small.Input >= large.Input || large.Above != 272_000 {
		t.Errorf("%+v and %+v of %+v", small, large, e.Prices)
	}
	if _, ok := (Entry{}).PriceOf(1); ok {
		t.Error("a price is made up")
	}
}

// Each line of the table makes sense, so that a new list with other units or names is seen.
func TestTable(t *testing.T) {
	if len(load().makers) < 8 {
		t.Fatalf("makers %q", load().makers)
	}
	if len(packed) > 24<<10 {
		t.Errorf("the table takes %d bytes of the binary", len(packed))
	}
	models := 0
	for provider, lines := range load().lines {
		if len(lines) == 0 {
			t.Errorf("%s has no models", provider)
		}
		for id, line := range lines {
			e := parse(line)
			models++
			if e.Window < 1_000 || e.Window > 20_000_000 || e.Output > e.Window || len(e.Levels) > 0 && !e.Reasons || strings.ContainsAny(id, " \t") {
				t.Errorf("%s/%s: %+v", provider, id, e)
			}
			for _, p := range e.Prices {
				if p.Input < 0 || p.Output <= 0 || p.Input > 1_000 || p.Output > 5_000 || p.CacheRead > p.Input {
					t.Errorf("%s/%s costs %+v", provider, id, p)
				}
			}
		}
	}
	if models < 400 {
		t.Errorf("only %d models", models)
	}
}

func BenchmarkFind(b *testing.B) {
	for b.Loop() {
		Find("openai", "gpt-5")
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		unpack()
	}
}

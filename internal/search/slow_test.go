package search_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"acp-agent/internal/search"
)

// TestGrep_HardPatterns are patterns that need very many states, or a program
// too large for the automaton: the answers must not depend on which way they
// are judged, and the search must come to an end.
func TestGrep_HardPatterns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 6000 {
		for range random.IntN(120) {
			text.WriteByte("ab cd\t1é"[random.IntN(8)])
		}
		text.WriteByte('\n')
	}
	words := make([]string, 300)
	for i := range words {
		words[i] = fmt.Sprintf("a%db", i)
	}
	for _, pattern := range []string{
		`[ab][^d]{40}c`, `[abcd].{24}\d{9}`, `(a|b){1,3}(.{20}c){2}`, `(\w{50}){10}`, `[a-d]{1000}`, `(x+x+)+y`, `(a*)*b`, `\pL+\s\PL{8}\p{Greek}?c`,
		strings.Join(words, "|"), `(?:a?){60}a{60}`,
	} {
		t.Run(pattern[:min(len(pattern), 20)], func(t *testing.T) {
			t.Parallel()
			files := fstest.MapFS{"f": {Data: []byte(text.String()), Mode: 0o644}}
			got, err := search.Grep(t.Context(), search.FromFS(files), search.GrepOptions{Base: "/w", Pattern: pattern}, nil)
			if err != nil {
				t.Fatal(err)
			}
			re, want := regexp.MustCompile("(?i)"+pattern), 0
			for line := range strings.Lines(text.String()) {
				if re.MatchString(strings.TrimSuffix(line, "\n")) {
					want++
				}
			}
			if got.Total != want {
				t.Errorf("total %d, want %d", got.Total, want)
			}
		})
	}
}

// TestGrep_ExpressionHasASize holds that an expression which would take long is refused
// with the limit.
func TestGrep_ExpressionHasASize(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{
		strings.Repeat("a", 10_001), `((a{100}){10}){11}`, `(a?){1000}(b?){1000}((c?){1000}){8}`, `(\w{1000}x){11}`,
	} {
		_, err := search.Grep(t.Context(), search.FromFS(fstest.MapFS{}), search.GrepOptions{Base: "/w", Pattern: pattern}, nil)
		var bad *search.PatternError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "10000 instructions") && !strings.Contains(err.Error(), "invalid repeat count") && !strings.Contains(err.Error(), "too large") {
			t.Errorf("%.40s: error %v, want one that says the limit", pattern, err)
		}
	}
}

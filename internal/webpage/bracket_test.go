package webpage_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/webpage"
)

// TestConvert_OpenBrackets converts a page of brackets that nothing closes: the work grows
// with the page, and it ends with the context.
func TestConvert_OpenBrackets(t *testing.T) {
	t.Parallel()
	body := []byte("<html><p>" + strings.Repeat("*_[", 100_000))
	page, err := webpage.Convert(t.Context(), body, "text/html", "https://example.com/")
	if err != nil || strings.Count(page.Text, "[") != 100_000 {
		t.Errorf("%d brackets, error %v", strings.Count(page.Text, "["), err)
	}
	short, err := webpage.Convert(t.Context(), []byte("<html><p>a [b] [c"), "text/html", "https://example.com/")
	if err != nil || short.Text != `a \[b] [c` {
		t.Errorf("text %q, error %v", short.Text, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := webpage.Convert(ctx, []byte(strings.Repeat(string(body), 10)), "text/html", "https://example.com/"); err == nil {
		t.Error("no error after the end of the context")
	}
}

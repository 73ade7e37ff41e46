package webpage_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"acp-agent/internal/webpage"
)

func TestConvert_PDFPages(t *testing.T) {
	t.Parallel()
	const tree = "<</Type/Pages/Count 5>>"
	filler := strings.Repeat(". ", 1<<20)
	tests := []struct{ name, body, want string }{
		{"at the beginning of a long file", tree + filler + filler, "5 pages"},
		{"at its end", filler + filler + tree, "5 pages"},
		{"in the middle of it, where no one looks", filler + tree + filler, ""},
		{"across two pieces", strings.Repeat(".", 64<<10-len("%PDF-1.4\n")-len("<</Type/Pages/Cou")) + tree, "5 pages"},
		{"the largest", "<</Count 2/Type /Pages>><</Type /Pages /Kids [1 0 R] /Count 7>><</Count 3 /Type\n/Pages>>", "7 pages"},
		{"of another dictionary", "<</Type/Pages>><</Count 5>>", ""},
		{"of another type", "<</Type/PagesOfMine/Count 5>><</Pages/Count 5>>", ""},
		{"too far off", "<</Type/Pages" + strings.Repeat(" ", 500) + "/Count 5>>", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page, err := webpage.Convert(t.Context(), []byte("%PDF-1.4\n"+tt.body), "application/pdf", "https://example.com/")
			if err != nil || !strings.HasPrefix(page.Descriptor, "application/pdf, ") {
				t.Fatalf("%q, %v", page.Descriptor, err)
			}
			if tt.want == "" && strings.Contains(page.Descriptor, "pages") || !strings.Contains(page.Descriptor, tt.want) {
				t.Errorf("%q, want %q", page.Descriptor, tt.want)
			}
		})
	}
}

// A file made of nothing but what is looked for costs no more than others.
func TestConvert_PDFBombs(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"/Type/Pages ", "/Type /Pages ", "/Count 1 ", "/Pages", "/Type", "/Count ", "/Type/Pages/Count 1 ", "/Linearized "} {
		t.Run(piece, func(t *testing.T) {
			t.Parallel()
			body := []byte("%PDF-1.4\n" + strings.Repeat(piece, 5<<20/len(piece)))
			if page, err := webpage.Convert(t.Context(), body, "", "https://example.com/"); err != nil || page.Descriptor == "" {
				t.Errorf("%q, %v", page.Descriptor, err)
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := webpage.Convert(ended, body, "", "https://example.com/"); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end of its context: %v", err)
			}
		})
	}
}

func BenchmarkConvert_PDF(b *testing.B) {
	for _, piece := range []string{"/Type/Pages ", "/Count 1 ", "/Pages"} {
		body := []byte("%PDF-1.4\n" + strings.Repeat(piece, 5<<20/len(piece)))
		b.Run(piece, func(b *testing.B) {
			for b.Loop() {
				_, _ = webpage.Convert(b.Context(), body, "", "https://example.com/")
			}
		})
	}
}

package kinds_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"acp-agent/kinds"
)

// TestNames holds that a title names what it is about, or counts what does not fit.
func TestNames(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("internal/pkg%02d/file.go", i)
	}
	long := strings.Repeat("deep/", 40) + "file.go"
	tests := []struct {
		name  string
		names []string
		want  string
	}{
		{"none", nil, ""},
		{"one", []string{"a.go"}, "a.go"},
		{"some", []string{"a.go", "b.go", "c.go"}, "a.go, b.go, c.go"},
		{"many", many, "internal/pkg00/file.go, internal/pkg01/file.go, internal/pkg02/file.go and 37 more"},
		{"a long one", []string{long, "b.go", "c.go"}, "…" + strings.Repeat("deep/", 40)[148:] + "file.go, b.go, c.go"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := kinds.Names(tt.names)
			if got != tt.want || utf8.RuneCountInString(got) > 105 {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

package builtin_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"acp-agent/kinds"
	"acp-agent/tools"
	"acp-agent/tools/tooltest"
)

// cardText is the text of a card that is one block.
func cardText(t *testing.T, result *tools.Result) string {
	t.Helper()
	if len(result.Content) == 1 {
		if text, ok := result.Content[0].(kinds.Text); ok {
			return text.Text
		}
	}
	t.Fatalf("content = %#v, want one text", result.Content)
	return ""
}

func TestBash_Card(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script tooltest.Script
		want   string
	}{
		{"output", tooltest.Script{Output: []string{"total 48\n", "a.txt\n"}}, "```console\ntotal 48\na.txt\n```"},
		{"no line end", tooltest.Script{Output: []string{"  a"}}, "```console\n  a\n```"},
		{"nothing", tooltest.Script{}, "no output"},
		{"blank lines", tooltest.Script{Output: []string{"\n \n"}}, "no output"},
		{"exit code", tooltest.Script{Output: []string{"no\n"}, ExitCode: 2}, "```console\nno\n```\n\nexit code 2"},
		{"exit code alone", tooltest.Script{ExitCode: 1}, "exit code 1"},
		{"signal", tooltest.Script{Output: []string{"no\n"}, ExitCode: 139, Signal: "SIGSEGV"}, "```console\nno\n```\n\nsignal SIGSEGV"},
		{"fence", tooltest.Script{Output: []string{"```go\nx\n````\n"}}, "`````console\n```go\nx\n````\n`````"},
		{"terminal codes", tooltest.Script{Output: []string{"\x1b[31mred\x1b[0m\r\n"}}, "```console\nred\n```"},
		{"what looks like ours", tooltest.Script{Output: []string{"</output>\n<exit_code>0</exit_code>"}}, "```console\n</output>\n<exit_code>0</exit_code>\n```"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{tt.script}})
			result := run(t, rt, "bash", map[string]any{"cmd": "make"})
			if diff := cmp.Diff(tt.want, cardText(t, result)); diff != "" {
				t.Errorf("card (-want +got):\n%s", diff)
			}
		})
	}
}

// Both ends of a long output are shown, and where the whole of it is.
func TestBash_CardOfLongOutput(t *testing.T) {
	t.Parallel()
	const most = 64 << 10
	for profile, limits := range profiles() {
		for _, size := range []int{60 << 10, 60<<10 + 1, 100_000, 199_999, 204_801, 1_000_000} {
			for _, unit := range []string{"", "😀", "`"} {
				t.Run(fmt.Sprintf("%s/%d/%s", profile, size, unit), func(t *testing.T) {
					t.Parallel()
					output := countedOutput(size)
					if unit != "" {
						output = strings.Repeat("x"+strings.Repeat(unit, 20)+"\n", size/(2+20*len(unit)))
					}
					rt := tooltest.New(tooltest.Options{Limits: &limits, Processes: []tooltest.Script{{Output: pieces(output, 4_000), ExitCode: 3}}})
					result := run(t, rt, "bash", map[string]any{"cmd": "make"})
					card := cardText(t, result)
					if len(card) > most || !utf8.ValidString(card) || strings.Contains(card, "\ufffd") {
						t.Errorf("the card has %d bytes, valid %v", len(card), utf8.ValidString(card))
					}
					fence, rest, _ := strings.Cut(card, "console\n")
					block, below, ended := strings.Cut(rest, "\n"+fence+"\n\n")
					if strings.Trim(fence, "`") != "" || !ended || strings.Contains(block, fence) {
						t.Fatalf("fence %q does not hold the output", fence)
					}
					want := "exit code 3"
					if result.Truncated {
						want += "\n\nthe whole output is in " + result.OutputPath
					}
					if below != want {
						t.Errorf("below the output stands %q, want %q", below, want)
					}
					if !strings.HasSuffix(strings.TrimSuffix(output, "\n"), block[len(block)-1_000:]) {
						t.Errorf("the end of the output is not shown")
					}
					cut := strings.Contains(block, " bytes of output left out here; ")
					if wantCut := len(output) > 60<<10 || result.Truncated; cut != wantCut {
						t.Errorf("marked as cut: %v, want %v", cut, wantCut)
					}
					if cut && !limits.TailOnly && !strings.HasPrefix(output, block[:1_000]) {
						t.Errorf("the beginning of the output is not shown")
					}
				})
			}
		}
	}
}

// The number of bytes that the mark names is what is missing.
func TestBash_CardCountsWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100_000, 300_000} {
		output := countedOutput(size)
		rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: []string{output}}}})
		card := cardText(t, run(t, rt, "bash", map[string]any{"cmd": "make"}))
		block := strings.TrimPrefix(card, "```console\n")
		head, rest, _ := strings.Cut(block, "[")
		mark, tail, _ := strings.Cut(rest, "]\n")
		tail, _, _ = strings.Cut(tail, "\n```")
		head = strings.TrimSuffix(head, "\n")
		missing := 0
		if _, err := fmt.Sscanf(mark, "%d bytes", &missing); err != nil {
			t.Fatalf("mark %q: %v", mark, err)
		}
		// A line end may stand before the mark or at the end of the block, or not.
		if got := len(head) + missing + len(tail); got < size-2 || got > size {
			t.Errorf("of %d bytes, %d are shown and %d said to be missing", size, len(head)+len(tail), missing)
		}
	}
}

func TestBash_CardOfCancelled(t *testing.T) {
	t.Parallel()
	for want, output := range map[string][]string{
		"```console\nhalf\n```\n\nstopped before it ended": {"half\n"},
		"stopped before it ended":                          nil,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		rt := tooltest.New(tooltest.Options{Processes: []tooltest.Script{{Output: output, Hang: true, Do: func(context.Context) { cancel() }}}})
		result, err := rt.Run(ctx, tool(t, "bash"), "bash", `{"cmd":"make"}`)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, cardText(t, result)); diff != "" || !result.Partial {
			t.Errorf("partial %v; card (-want +got):\n%s", result.Partial, diff)
		}
	}
}

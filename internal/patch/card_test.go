package patch_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/internal/patch"
	"acp-agent/kinds"
)

// cardOf is what the card of a patch says that it touches, and what it does.
func cardOf(t interface{ Fatal(...any) }, text string) ([]string, kinds.Kind) {
	args, err := json.Marshal(map[string]string{"patch": text})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	card := kinds.Describe("apply_patch", args, kinds.Place{Cwd: "/work"})
	for _, l := range card.Locations {
		names = append(names, l.Path)
	}
	slices.Sort(names)
	return names, card.Kind
}

// touched is the same of the patch as it is read.
func touched(p *patch.Patch) ([]string, kinds.Kind) {
	var names []string
	deletes, moves := true, true
	for _, f := range p.Files() {
		for _, name := range f.Names() {
			if !filepath.IsAbs(name) {
				name = filepath.Join("/work", name)
			}
			names = append(names, filepath.Clean(name))
		}
		deletes = deletes && f.Op == patch.Delete
		moves = moves && f.Op == patch.Rename && len(f.Hunks) == 0
	}
	slices.Sort(names)
	switch names = slices.Compact(names); {
	case deletes:
		return names, kinds.Delete
	case moves:
		return names, kinds.Move
	}
	return names, kinds.Edit
}

func wantCard(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, text string,
) {
	p, err := patch.Parse(context.Background(), text)
	if err != nil {
		return
	}
	want, wantKind := touched(p)
	got, kind := cardOf(t, text)
	if diff := cmp.Diff(want, got); diff != "" || kind != wantKind {
		t.Fatalf("the card says %s, the patch does %s; files (-patch +card):\n%s%q", kind, wantKind, diff, text)
	}
}

// soup is made of lines that look like parts of a patch.
func soup(more ...string) *rapid.Generator[string] {
	line := rapid.SampledFrom(append([]string{
		"", "prose", "```", "```diff", "@@", "@@ -1 +1 @@\n-a\n+b", "@@\n-a\n+b", "-a", "+b", " c", "rename from a", "rename to b", "rename from c\nrename to d",
		"--- a/e", "+++ b/e", "--- a/f\n+++ b/f", "--- g\n+++ /dev/null", "--- /dev/null\n+++ b/h", "diff --git a/i b/i", "new file mode 100644",
		"deleted file mode 100644", "index 1..2", "From x", "-- ", "2.1", "@@ -1,2 +1,2 @@\n--- a/j\n+++ b/j\n k",
	}, more...))
	return rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(line, 1, 9).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "crlf") {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + text
	})
}

var envelopeLines = []string{
	"*** Begin Patch", "*** End Patch", " *** End Patch", "*** End of File", "*** Add File: m", "*** Add File: n\n+a", "*** Update File: o",
	"*** Update File: p\n@@\n-a\n+b", "*** Update File: q\n*** Move to: r", "*** Move to: s", "*** Delete File: u", "*** Update File: v \n@@ x\n c\n+*** Move to: w",
}

// TestCard_Envelope: whatever envelope is applied, its card names the files that
// it touches.
func TestCard_Envelope(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"rename from a.md\nrename to README.md\n\n*** Begin Patch\n*** Update File: main.go\n@@\n-a\n+b\n*** End Patch",
		"*** Update File: x\n*** Move to: y\n*** End Patch\n*** Move to: z\n- done",
		"\ufeff*** Delete File: x\n",
		"*** Update File: x\n@@\n+a\n*** End of File\n@@\n *** Move to: z\n-b\n",
	} {
		if _, err := patch.Parse(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		wantCard(t, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom([]string{"*** Begin Patch", "*** Delete File: k", "*** Update File: l\n@@\n-a\n+b"}).Draw(t, "first")
		wantCard(t, soup(envelopeLines...).Draw(t, "before")+"\n"+first+"\n"+soup(envelopeLines...).Draw(t, "behind"))
	})
}

// TestCard_Unified is the same of the other form.
func TestCard_Unified(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { wantCard(t, soup().Draw(t, "patch")) })
}

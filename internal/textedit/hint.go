package textedit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"

	"acp-agent/internal/textcut"
)

const (
	hintMaxContent = 2 << 20 // bytes of a file that is looked through
	hintMaxLines   = 60      // lines of the old text that are compared
	hintMinLines   = 4       // lines that are compared even with a file of many lines
	hintWork       = 8 << 20 // lines that are compared in all
	hintMaxText    = 4 << 10 // bytes of one comparison
	hintWindows    = 3       // places compared closely
	hintTime       = 40 * time.Millisecond
	hintAlike      = 0.55 // likeness from which a place is worth naming
	hintShow       = 6    // lines shown
	hintShowLine   = 160  // characters shown of each
)

// NearestHint describes the place of content that is most like old, for the
// model to correct an edit that found nothing: "closest text is at lines a-b:"
// and the lines themselves. It is "" when nothing is near enough or the texts
// are too large to compare, or ctx has ended.
func NearestHint(ctx context.Context, content, old string) string {
	if len(content) > hintMaxContent || strings.TrimSpace(old) == "" {
		return ""
	}
	have := strings.Split(toLF(content), "\n")
	want := strings.Split(strings.TrimSuffix(toLF(old), "\n"), "\n")
	want = want[:min(len(want), hintMaxLines, max(hintMinLines, hintWork/len(have)))]
	best, at := 0.0, 0
	for _, start := range windows(ctx, have, want) {
		if ctx.Err() != nil {
			return ""
		}
		end := min(start+len(want), len(have))
		if got := likeness(strings.Join(have[start:end], "\n"), strings.Join(want, "\n")); got > best {
			best, at = got, start
		}
	}
	if best < hintAlike {
		return ""
	}
	end := min(at+len(want), len(have))
	var out strings.Builder
	fmt.Fprintf(&out, "closest text is at lines %d-%d:", at+1, end)
	for i, l := range have[at:end] {
		if i == hintShow {
			out.WriteString("\n...")
			break
		}
		out.WriteString("\n" + shorten(l))
	}
	return out.String()
}

// windows are the first lines of the places that share most with want: lines
// that are equal but for blanks at their ends count by their length, others by
// the pairs of letters they share with the line they stand for.
func windows(ctx context.Context, have, want []string) []int {
	have, bare := trimmed(have), trimmed(want)
	// The score of a line depends on neither place alone: take the longest line
	// of want as anchor, where a place must already be alike.
	anchor := 0
	for i, w := range bare {
		want[i] = strings.TrimRight(want[i], blanks)
		if len(w) > len(bare[anchor]) {
			anchor = i
		}
	}
	pairs := pairsOf(bare[anchor])
	type scored struct {
		start int
		score float64
	}
	var all []scored
	for i, h := range have {
		if i%stride == 0 && ctx.Err() != nil {
			return nil
		}
		start := i - anchor
		if start < 0 {
			continue
		}
		score := pairs.alike(h) * float64(len(want[anchor])+1)
		if score == 0 {
			continue
		}
		for k, w := range bare[:min(len(bare), len(have)-start)] {
			if k != anchor && have[start+k] == w {
				score += float64(len(want[k]) + 1)
			}
		}
		all = append(all, scored{start, score})
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var starts []int
	for _, s := range all[:min(len(all), hintWindows)] {
		starts = append(starts, s.start)
	}
	return starts
}

// trimmed are lines without the white space around them.
func trimmed(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimSpace(l)
	}
	return out
}

// A pairSet holds the pairs of neighbouring bytes of a line.
type pairSet map[[2]byte]bool

// maxPaired bounds the bytes of a line that are looked at.
const maxPaired = 200

func pairsOf(s string) pairSet {
	s = s[:min(len(s), maxPaired)]
	set := pairSet{}
	for i := 0; i+1 < len(s); i++ {
		set[[2]byte{s[i], s[i+1]}] = true
	}
	return set
}

// alike is the share of pairs that s has in common with the set, 0 to 1.
func (p pairSet) alike(s string) float64 {
	s = s[:min(len(s), maxPaired)]
	if len(p) == 0 || len(s) < 2 {
		return 0
	}
	common := 0
	for i := 0; i+1 < len(s); i++ {
		if p[[2]byte{s[i], s[i+1]}] {
			common++
		}
	}
	return 2 * float64(common) / float64(len(p)+len(s)-1)
}

// likeness compares two texts letter by letter, 0 to 1.
func likeness(a, b string) float64 {
	a, b = a[:min(len(a), hintMaxText)], b[:min(len(b), hintMaxText)]
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = hintTime
	away := dmp.DiffLevenshtein(dmp.DiffMain(a, b, false))
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b), 1)
	return 1 - float64(away)/float64(longer)
}

// shorten cuts a line that is too long to show.
func shorten(s string) string {
	if shown := textcut.Characters(s, hintShowLine); shown != s {
		return shown + "..."
	}
	return s
}

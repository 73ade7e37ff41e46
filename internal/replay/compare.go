package replay

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// comparison compares JSON values. Two ids of the agent are equal if each stands in place of the other
// everywhere.
type comparison struct {
	toLive, toRecorded map[string]string
	// tolerance is by how many tokens two estimates may differ, because the recorded texts have masks in place of keys.
	tolerance int64
	// added are the pairs of ids that the current comparison found.
	added [][2]string
}

// tokensOfKey is how many tokens more than its mask a key may have in an estimate.
const tokensOfKey = 64

// newComparison returns a comparison with a recording in which a number of entries have masked keys.
func newComparison(masks int) *comparison {
	return &comparison{tolerance: int64(masks) * tokensOfKey, toLive: map[string]string{}, toRecorded: map[string]string{}}
}

// agentID matches the ids that the agent makes.
var agentID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:ses|msg|prt|call|trn)_[0-9a-f]{12}[0-9a-z]{14}`)
})

// varies reports whether a member of an object differs from one run to the next.
func varies(name string) bool {
	return slices.Contains([]string{"updatedAt", "durationMs", "duration_ms", "durationMS", "elapsed_ms"}, name)
}

// usedTokens is the path of the estimate of how full the context is.
const usedTokens = "params.update.used"

// withinTolerance reports whether two estimates differ by no more than the masked keys may cause.
func (c *comparison) withinTolerance(want, got any) bool {
	w, wantIsNumber := want.(json.Number)
	g, gotIsNumber := got.(json.Number)
	if !wantIsNumber || !gotIsNumber {
		return false
	}
	recorded, wantErr := w.Int64()
	live, gotErr := g.Int64()
	return wantErr == nil && gotErr == nil && max(recorded-live, live-recorded) <= c.tolerance
}

// mismatch is a place where two values differ.
type mismatch struct{ path, want, got string }

// equal compares two values. If they are equal, it keeps the pairs of ids that it found.
func (c *comparison) equal(want, got any) *mismatch {
	c.added = c.added[:0]
	m := c.compare("", want, got)
	if m != nil {
		for _, pair := range c.added {
			delete(c.toLive, pair[0])
			delete(c.toRecorded, pair[1])
		}
	}
	return m
}

func (c *comparison) compare(path string, want, got any) *mismatch {
	switch want := want.(type) {
	case map[string]any:
		if got, ok := got.(map[string]any); ok {
			return c.compareObjects(path, want, got)
		}
	case []any:
		if got, ok := got.([]any); ok {
			return c.compareLists(path, want, got)
		}
	case string:
		if got, ok := got.(string); ok && c.equalTexts(want, got) {
			return nil
		}
	default:
		if want == got {
			return nil
		}
	}
	return &mismatch{path, show(want), show(got)}
}

func (c *comparison) compareObjects(path string, want, got map[string]any) *mismatch {
	names := slices.Concat(slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		w, inWant := want[name]
		g, inGot := got[name]
		at := name
		if path != "" {
			at = path + "." + name
		}
		switch {
		case varies(name), at == usedTokens && c.withinTolerance(w, g):
		case !inWant:
			return &mismatch{at, "nothing", show(g)}
		case !inGot:
			return &mismatch{at, show(w), "nothing"}
		default:
			if m := c.compare(at, w, g); m != nil {
				return m
			}
		}
	}
	return nil
}

func (c *comparison) compareLists(path string, want, got []any) *mismatch {
	for i := range max(len(want), len(got)) {
		at := fmt.Sprintf("%s[%d]", path, i)
		switch {
		case i >= len(got):
			return &mismatch{at, show(want[i]), "nothing"}
		case i >= len(want):
			return &mismatch{at, "nothing", show(got[i])}
		}
		if m := c.compare(at, want[i], got[i]); m != nil {
			return m
		}
	}
	return nil
}

// equalTexts reports whether two texts are equal but for durations and pairs of ids.
func (c *comparison) equalTexts(want, got string) bool {
	want, got = withoutTimes(want), withoutTimes(got)
	if want == got {
		for _, id := range agentID().FindAllString(want, -1) {
			c.matchIDs(id, id)
		}
		return true
	}
	ids := agentID().FindAllString(want, -1)
	others := agentID().FindAllString(got, -1)
	if len(ids) != len(others) {
		return false
	}
	next := 0
	replaced := agentID().ReplaceAllStringFunc(want, func(string) string {
		next++
		return others[next-1]
	})
	if replaced != got {
		return false
	}
	for i, id := range ids {
		if !c.matchIDs(id, others[i]) {
			return false
		}
	}
	return true
}

// duration matches a duration in a text.
var duration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:\d+h ?)?(?:\d+m ?)?\d+(?:\.\d+)?m?s\b`)
})

// withoutTimes returns a text with each duration replaced by 0s.
func withoutTimes(text string) string {
	if !strings.ContainsAny(text, "0123456789") {
		return text
	}
	return duration().ReplaceAllString(text, "0s")
}

// matchIDs stores that a live id stands in place of a recorded one, and reports whether neither has another
// partner.
func (c *comparison) matchIDs(recorded, live string) bool {
	l, known := c.toLive[recorded]
	r, taken := c.toRecorded[live]
	if known || taken {
		return l == live && r == recorded
	}
	c.toLive[recorded], c.toRecorded[live] = live, recorded
	c.added = append(c.added, [2]string{recorded, live})
	return true
}

func show(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

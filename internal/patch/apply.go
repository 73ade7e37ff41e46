package patch

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/textedit"
)

const bom = "\ufeff"

// maxHunks bounds the hunks of one file: their changes are sorted in one go.
const maxHunks = 100_000

// Apply changes a text as a patch says. All hunks are found in the old text, so
// their order does not matter, and what they do not change keeps its bytes.
// Where a hunk fits byte for byte, its new lines are taken byte for byte too;
// where line ends or whitespace had to be forgiven, new lines take those of the
// file, and byte order mark and final newline stay as they are, unless the patch
// speaks of them (R40). The error is an *Error, or the cause of ctx's end.
func Apply(ctx context.Context, old string, f FileChange) (string, error) {
	if len(f.Hunks) > maxHunks {
		return "", errorf(f.Line, f.Path, "the file has %d hunks, the most is %d", len(f.Hunks), maxHunks)
	}
	t := newTarget(ctx, old)
	var cuts []cut
	shift := 0
	for i := range f.Hunks {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		h := &f.Hunks[i]
		p, err := t.locate(ctx, h, shift)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			err.Path = f.Path
			return "", err
		}
		if h.Numbered && p.end > p.at {
			shift = p.at - (h.Start - 1)
		}
		t.bomSpoken = t.bomSpoken || p.exact && p.at == 0
		cuts = append(cuts, t.cuts(h, p)...)
	}
	slices.SortStableFunc(cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.end, b.end)) })
	for i := 1; i < len(cuts); i++ {
		if cuts[i].at < cuts[i-1].end {
			return "", errorf(cuts[i].hunk.Line, f.Path, "two hunks change the same lines (the other begins at patch line %d)", cuts[i-1].hunk.Line)
		}
	}
	if f.Op == Delete && len(f.Hunks) == 0 {
		return "", nil
	}
	result := t.join(ctx, cuts)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if f.Op == Delete && result != "" {
		return "", errorf(f.Line, f.Path, "the file has more lines than the patch deletes")
	}
	return result, nil
}

// target is a text to be changed.
type target struct {
	bom    string
	lines  []string // with their line ends and the mark
	plain  []string // without both
	ending string   // the line end that prevails
	// The lines as the three steps of locate compare them: each is made when the
	// first hunk needs it, and serves all hunks.
	exactly, plainly, barely func() *index
	// forgiver bounds the comparisons of the last step, over all hunks.
	forgiver textedit.Forgiver
	// bomSpoken says that a hunk fits with the first line's very bytes, so that
	// it decides on the mark.
	bomSpoken bool
}

func newTarget(ctx context.Context, text string) *target {
	t := &target{lines: splitLines(ctx, text)}
	t.plain = make([]string, len(t.lines))
	for i, line := range t.lines {
		if i%stride == 0 && ctx.Err() != nil {
			break
		}
		t.plain[i] = trimEnd(line)
	}
	if len(t.plain) > 0 {
		t.plain[0] = strings.TrimPrefix(t.plain[0], bom)
	}
	if strings.HasPrefix(text, bom) {
		t.bom = bom
	}
	t.ending = cmp.Or(lineEnd(t.lines), "\n")
	t.exactly = sync.OnceValue(func() *index { return newIndex(ctx, t.lines) })
	t.plainly = sync.OnceValue(func() *index { return newIndex(ctx, t.plain) })
	t.barely = sync.OnceValue(func() *index { return newIndex(ctx, bare(t.plain)) })
	return t
}

// splitLines keeps line ends; only the last line may have none.
func splitLines(ctx context.Context, text string) []string {
	if text == "" {
		return nil
	}
	lines := make([]string, 0, strings.Count(text, "\n")+1)
	for line := range strings.Lines(text) {
		if len(lines)%stride == 0 && ctx.Err() != nil {
			break
		}
		lines = append(lines, line)
	}
	return lines
}

func trimEnd(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

// lineEnd is the line end that prevails in some lines, "" when none has one.
func lineEnd(lines []string) string {
	crlf, all := 0, 0
	for _, line := range lines {
		if strings.HasSuffix(line, "\r\n") {
			crlf++
		}
		if strings.HasSuffix(line, "\n") {
			all++
		}
	}
	switch {
	case all == 0:
		return ""
	case 2*crlf > all:
		return "\r\n"
	}
	return "\n"
}

// cut replaces the lines [at, end).
type cut struct {
	at, end int
	add     []string
	// soft says that the patch does not speak of the final newline.
	soft bool
	hunk *Hunk
}

// cuts are the changes of a hunk at its place, context left out.
func (t *target) cuts(h *Hunk, p place) []cut {
	soft := !p.exact && !slices.ContainsFunc(h.Lines, func(l Line) bool { return !strings.HasSuffix(l.Text, "\n") })
	ending := cmp.Or(lineEnd(t.lines[p.at:p.end]), t.ending)
	var all []cut
	at, seen := p.at, 0
	open := false // the last cut goes on
	for _, l := range h.Lines {
		if l.Op == Context {
			at, seen, open = at+1, seen+1, false
			continue
		}
		if !open {
			all, open = append(all, cut{at: at, end: at, soft: soft, hunk: h}), true
		}
		last := &all[len(all)-1]
		if l.Op == Removed {
			at++
			last.end = at
			continue
		}
		last.add = append(last.add, spell(l.Text, seen, p, ending))
		seen++
	}
	return all
}

// spell writes a new line, the hunk's n-th, in the ways of the file, whose lines
// end in ending there.
func spell(text string, n int, p place, ending string) string {
	if p.exact {
		return text
	}
	plain := trimEnd(text)
	if n == 0 && p.at == 0 {
		plain = strings.TrimPrefix(plain, bom)
	}
	plain = p.respelling.Apply(plain)
	if !strings.HasSuffix(text, "\n") {
		return plain
	}
	return plain + ending
}

// join writes the text with the cuts made, which are in order.
func (t *target) join(ctx context.Context, cuts []cut) string {
	out := make([]string, 0, len(t.lines))
	next, soft := 0, false
	keep := func(to int) {
		if next < to {
			out, soft = append(out, t.lines[next:to]...), false
		}
	}
	for i, c := range cuts {
		if i%stride == 0 && ctx.Err() != nil {
			return ""
		}
		keep(c.at)
		if len(c.add) > 0 {
			out, soft = append(out, c.add...), c.soft
		}
		next = c.end
	}
	keep(len(t.lines))
	t.mendEnds(out, soft)
	if t.bom != "" && !t.bomSpoken && len(out) > 0 {
		return t.bom + strings.Join(t.unmarked(out), "")
	}
	return strings.Join(out, "")
}

// mendEnds gives every line but the last an end, and leaves the file without a
// final newline when it had none and the last line is a soft one.
func (t *target) mendEnds(out []string, soft bool) {
	for i := range len(out) - 1 {
		if !strings.HasSuffix(out[i], "\n") {
			out[i] += t.ending
		}
	}
	if n := len(t.lines); soft && n > 0 && !strings.HasSuffix(t.lines[n-1], "\n") {
		if plain := trimEnd(out[len(out)-1]); plain != "" { // an empty line is nothing but its end
			out[len(out)-1] = plain
		}
	}
}

// unmarked takes the byte order mark off the line that had it, which may have
// become a later one.
func (t *target) unmarked(out []string) []string {
	for i, line := range out {
		if rest, found := strings.CutPrefix(line, bom); found {
			out[i] = rest
			break
		}
	}
	return out
}

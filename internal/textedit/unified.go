package textedit

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

const (
	contextLines = 3
	// maxDiffLines bounds what is compared line by line, after the common head
	// and tail are gone. Above it the whole middle is shown as replaced.
	maxDiffLines = 20_000
)

// Unified is the git-style diff from old to new of the file at path, "" when
// they are equal (R39). "git apply" takes it. The path is written below a/ and
// b/, without a leading slash. After the end of ctx it is worth nothing.
func Unified(ctx context.Context, path, old, new string) string {
	if old == new {
		return ""
	}
	a, b := quotePath("a/", path), quotePath("b/", path)
	header := "diff --git " + a + " " + b + "\n"
	names := "--- " + tabBlank(a) + "\n+++ " + tabBlank(b) + "\n"
	p := partOf(old, new)
	if ctx.Err() != nil {
		return header + names
	}
	if strings.Count(p.was, "\n")+strings.Count(p.now, "\n") > maxDiffLines {
		return header + names + p.replaced(ctx)
	}
	hunks, err := udiff.ToUnified(tabBlank(a), tabBlank(b), p.above+p.was+p.below, p.edits(), contextLines)
	if err != nil {
		// Edits made from old and new cannot contradict old.
		return header + names
	}
	return header + renumbered(hunks, p.line)
}

// A part is where two texts differ: what stands between the common head and tail of
// whole lines, with some lines above and below.
type part struct {
	line         int // lines before above
	above, below string
	was, now     string
}

func partOf(old, new string) part {
	head := commonPrefix(old, new)
	head = strings.LastIndexByte(old[:head], '\n') + 1
	tail := commonSuffix(old[head:], new[head:])
	if i := strings.IndexByte(old[len(old)-tail:], '\n'); i >= 0 {
		tail -= i + 1
	} else {
		tail = 0
	}
	p := part{was: old[head : len(old)-tail], now: new[head : len(new)-tail]}
	from, to := head, len(old)-tail
	for range contextLines {
		from = strings.LastIndexByte(old[:max(from-1, 0)], '\n') + 1
		if i := strings.IndexByte(old[to:], '\n'); i >= 0 {
			to += i + 1
		} else {
			to = len(old)
		}
	}
	p.above, p.below = old[from:head], old[len(old)-tail:to]
	p.line = strings.Count(old[:from], "\n")
	return p
}

// edits compares the two texts line by line.
func (p part) edits() []udiff.Edit {
	edits := udiff.Lines(p.was, p.now)
	for i := range edits {
		edits[i].Start += len(p.above)
		edits[i].End += len(p.above)
	}
	return edits
}

// replaced is one hunk in which the one text goes and the other comes.
func (p part) replaced(ctx context.Context) string {
	var out strings.Builder
	same := countLines(p.above) + countLines(p.below)
	out.Grow(2*(len(p.was)+len(p.now)) + len(p.above) + len(p.below))
	out.WriteString("@@ -" + p.lines(same+countLines(p.was)) + " +" + p.lines(same+countLines(p.now)) + " @@\n")
	for _, text := range []struct {
		mark byte
		text string
	}{{' ', p.above}, {'-', p.was}, {'+', p.now}, {' ', p.below}} {
		n := 0
		for line := range strings.Lines(text.text) {
			if n++; n%stride == 0 && ctx.Err() != nil {
				return ""
			}
			out.WriteByte(text.mark)
			out.WriteString(line)
			if !strings.HasSuffix(line, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return out.String()
}

// lines names so many lines in the header of a hunk.
func (p part) lines(count int) string {
	switch {
	case count == 0 && p.line == 0:
		return "0,0"
	case count == 1:
		return strconv.Itoa(p.line + 1)
	}
	return strconv.Itoa(p.line+1) + "," + strconv.Itoa(count)
}

// renumbered moves the headers of hunks down by some lines.
func renumbered(hunks string, by int) string {
	if by == 0 {
		return hunks
	}
	var out strings.Builder
	out.Grow(len(hunks) + len(hunks)/64)
	for line := range strings.Lines(hunks) {
		old, rest, ok := strings.Cut(strings.TrimPrefix(line, "@@ -"), " +")
		if !ok || !strings.HasPrefix(line, "@@ -") {
			out.WriteString(line)
			continue
		}
		out.WriteString("@@ -" + moved(old, by) + " +" + moved(rest, by))
	}
	return out.String()
}

// moved adds to the number that a text begins with.
func moved(text string, by int) string {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	n, err := strconv.Atoi(text[:digits])
	if err != nil {
		return text
	}
	return strconv.Itoa(n+by) + text[digits:]
}

// quotePath writes a path as git does in a header: in C quotes where it holds
// bytes that could be misread.
func quotePath(prefix, path string) string {
	path = prefix + strings.TrimLeft(filepath.ToSlash(path), "/")
	var quoted strings.Builder
	needed := false
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			needed = true
			quoted.WriteByte('\\')
			quoted.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			needed = true
			octal := strconv.FormatUint(uint64(c), 8)
			quoted.WriteString(`\` + strings.Repeat("0", 3-len(octal)) + octal)
		default:
			quoted.WriteByte(c)
		}
	}
	if !needed {
		return path
	}
	return `"` + quoted.String() + `"`
}

// tabBlank ends a label that holds a blank with a tab, so that a reader does
// not take the rest for a time.
func tabBlank(label string) string {
	if strings.Contains(label, " ") && !strings.HasPrefix(label, `"`) {
		return label + "\t"
	}
	return label
}

package patch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"acp-agent/internal/textedit"
)

// place is where a hunk's old lines stand: [at, end).
type place struct {
	at, end int
	// exact says that they are the same bytes.
	exact bool
	// respelling is how new lines get the file's indentation.
	respelling textedit.Respelling
}

// locate finds a hunk. shift is how far the hunk before stood from its number.
func (t *target) locate(ctx context.Context, h *Hunk, shift int) (place, *Error) {
	old := h.side(Removed)
	if len(old) == 0 {
		return t.insertion(h)
	}
	if found := t.exactly().search(ctx, old); len(found) > 0 {
		at, err := t.choose(h, found, len(old), shift)
		return place{at: at, end: at + len(old), exact: true}, err
	}
	plain := make([]string, len(old))
	for i, line := range old {
		plain[i] = trimEnd(line)
	}
	plain[0] = strings.TrimPrefix(plain[0], bom)
	if found := t.plainly().search(ctx, plain); len(found) > 0 {
		at, err := t.choose(h, found, len(old), shift)
		return place{at: at, end: at + len(old)}, err
	}
	return t.loosely(ctx, h, plain)
}

// side are the lines of the old text (with Removed) or the new one (with Added).
func (h *Hunk) side(op LineOp) []string {
	var lines []string
	for _, l := range h.Lines {
		if l.Op == Context || l.Op == op {
			lines = append(lines, l.Text)
		}
	}
	return lines
}

// insertion is the place of a hunk that has no old lines: only its number says
// where, or that the file is empty, or, in an envelope, nothing: then the end.
func (t *target) insertion(h *Hunk) (place, *Error) {
	n := len(t.lines)
	switch {
	case n == 0:
		return place{exact: true}, nil
	case h.Numbered && h.Start <= n:
		return place{at: h.Start, end: h.Start}, nil
	case !h.Numbered && len(h.Anchors) == 0:
		return place{at: n, end: n}, nil
	}
	return place{}, errorf(h.Line, "", "the hunk only adds lines and does not say where: give lines of context around them")
}

// choose picks one of several places. The place that the line number names is
// the one; another only if all others are more than twice as far from it, so
// that a number that is made up decides nothing.
func (t *target) choose(h *Hunk, found []int, size, shift int) (int, *Error) {
	if h.AtEnd {
		if last := found[len(found)-1]; last+size == len(t.lines) {
			return last, nil
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	if h.Numbered {
		want := h.Start - 1 + shift
		far := func(at int) int { return max(at-want, want-at) }
		nearest, second := found[0], found[1]
		if far(second) < far(nearest) {
			nearest, second = second, nearest
		}
		for _, at := range found[2:] {
			if far(at) < far(nearest) {
				nearest, second = at, nearest
			} else if far(at) < far(second) {
				second = at
			}
		}
		if far(nearest) == 0 || 2*far(nearest) < far(second) {
			return nearest, nil
		}
	} else if above, ok := t.anchor(h.Anchors); ok {
		if i := slices.IndexFunc(found, func(at int) bool { return at >= above }); i >= 0 {
			return found[i], nil
		}
	}
	lines := make([]string, 0, 4)
	for _, at := range found[:min(len(found), 4)] {
		lines = append(lines, fmt.Sprint(at+1))
	}
	return 0, errorf(h.Line, "", "the hunk fits at %d places (lines %s%s): give more lines of context", len(found), strings.Join(lines, ", "), more(len(found) > 4))
}

func more(yes bool) string {
	if yes {
		return ", ..."
	}
	return ""
}

// anchor finds the lines that a hunk stands below, each below the one before it
// and the only one there.
func (t *target) anchor(anchors []string) (at int, ok bool) {
	for _, want := range anchors {
		found := -1
		for i := at; i < len(t.plain); i++ {
			if strings.TrimSpace(t.plain[i]) != want {
				continue
			}
			if found >= 0 {
				return 0, false
			}
			found = i
		}
		if found < 0 {
			return 0, false
		}
		at = found
	}
	return at, len(anchors) > 0
}

// loosely finds a hunk whose whitespace differs, by the rules of edit: first
// that at the end of lines, then the indentation; the place must be the only one.
func (t *target) loosely(ctx context.Context, h *Hunk, plain []string) (place, *Error) {
	want := bare(plain)
	var starts []int
	if slices.ContainsFunc(want, func(line string) bool { return line != "" }) { // blanks alone are not forgiven
		starts = t.barely().search(ctx, want)
	}
	for _, keepIndent := range []bool{true, false} {
		var found []place
		for _, at := range starts {
			if ctx.Err() != nil {
				break
			}
			end := at + len(plain)
			if how, ok := t.forgiver.Forgive(t.plain[at:end], plain, keepIndent); ok {
				found = append(found, place{at: at, end: end, respelling: how})
			}
			if len(found) > 1 {
				return place{}, errorf(h.Line, "", "the hunk fits at several places when whitespace is forgiven (lines %d, %d): copy its lines exactly, or give more of them", found[0].at+1, at+1)
			}
		}
		if t.forgiver.Spent() { // a place that was found may not be the only one
			return place{}, errorf(h.Line, "", "the hunk fits the file at too many places when whitespace is forgiven: copy its lines exactly, or give more of them")
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	miss := errorf(h.Line, "", "the hunk does not match the file: its lines without + are not there")
	miss.Old = strings.Join(h.side(Removed), "")
	return place{}, miss
}

func bare(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = textedit.Bare(line)
	}
	return out
}

package textedit

import (
	"context"
	"iter"
)

// A place is a match in the text of a view.
type place struct {
	start, end int
	line       int  // fuzzy matches: the first line
	noEnd      bool // old ends in a line feed that the file's end lacks
}

// matches is where an old text was found: at least one place.
type matches struct {
	places iter.Seq[place] // in order, may be gone through again
	fuzzy  bool
	// indents is how a place with other indentation is indented, from the old
	// text's to the file's; nil where the indentation is the same.
	indents func(p place) indents
}

// find looks for old in a view: exactly (a CRLF counts as LF on both sides), and
// only if that finds nothing, line by line with whitespace forgiven (R38): first
// that at the end of lines, then a different indentation, as long as it maps one to
// one onto that of the file. Without all there must be one place, overlapping ones
// counted too.
//
// The time is linear in both texts, but for one bound: where an old text with
// several indentations fits a file that repeats itself, so many places are
// compared and no more. What is not decided by then is not found.
//
// Errors: [EmptyError], [NotFoundError], [MultipleError], and the cause of the end of ctx.
func find(ctx context.Context, v *view, old string, all bool) (matches, error) {
	if old == "" {
		return matches{}, EmptyError{}
	}
	found := matches{places: exact(ctx, v.text, old, all)}
	first, count := tally(ctx, found.places, all)
	if count == 0 && ctx.Err() == nil {
		found, count = loose(ctx, v.text, old, all)
		first, _ = tally(ctx, found.places, true)
	}
	switch {
	case ctx.Err() != nil:
		return matches{}, context.Cause(ctx)
	case count == 0:
		return matches{}, NotFoundError{}
	case all:
		return found, nil
	case count > 1:
		return matches{}, MultipleError{Count: count}
	}
	found.places = only(first)
	return found, nil
}

// tally returns the first place and how many there are, or with any, whether
// there are any.
func tally(ctx context.Context, places iter.Seq[place], any bool) (first place, count int) {
	for p := range places {
		if count++; count == 1 {
			first = p
		}
		if any || count%stride == 0 && ctx.Err() != nil {
			break
		}
	}
	return first, count
}

func only(p place) iter.Seq[place] {
	return func(yield func(place) bool) { yield(p) }
}

// exact finds old in text. With all, places do not overlap; without, they may:
// then it is open which one is meant.
func exact(ctx context.Context, text, old string, all bool) iter.Seq[place] {
	have, want := []byte(text), []byte(old)
	return func(yield func(place) bool) {
		for start := range Occurrences(ctx, have, want, !all) {
			if !yield(place{start: start, end: start + len(old)}) {
				return
			}
		}
	}
}

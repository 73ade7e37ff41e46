package textedit

import "strings"

// A Span is a range of bytes: Start belongs to it, End does not.
type Span struct {
	Start, End int
}

// Matches is where an old text stands in a content.
type Matches struct {
	// Spans are in order and do not overlap; offsets into the content.
	Spans []Span
	// Fuzzy says that whitespace had to be forgiven.
	Fuzzy bool
}

// Match looks for old in content: exactly (a CRLF counts as LF on both sides),
// and only if that finds nothing, line by line with whitespace forgiven (R38):
// first that at the end of lines, then a different indentation, as long as it
// maps one to one onto that of the file. Without all there must be one place,
// overlapping ones counted too.
//
// Errors: [EmptyError], [NotFoundError], [MultipleError].
func Match(content, old string, all bool) (Matches, error) {
	v := newView(content)
	found, fuzzy, err := find(v, toLF(strings.TrimPrefix(old, bom)), all)
	if err != nil {
		return Matches{}, err
	}
	m := Matches{Fuzzy: fuzzy}
	for _, p := range found {
		m.Spans = append(m.Spans, Span{v.origin(p.start), v.origin(p.end)})
	}
	return m, nil
}

// A place is a match in the text of a view.
type place struct {
	start, end int
	indents    indents // fuzzy matches: from the old text's to the file's
	noEnd      bool    // old ends in a line feed that the file's end lacks
}

func find(v *view, old string, all bool) (found []place, fuzzy bool, err error) {
	if old == "" {
		return nil, false, EmptyError{}
	}
	if found = exact(v.text, old, all); len(found) == 0 {
		fuzzy = true
		found = loose(v.text, old, all)
	}
	switch {
	case len(found) == 0:
		return nil, false, NotFoundError{}
	case len(found) > 1 && !all:
		return nil, false, MultipleError{Count: len(found)}
	}
	return found, fuzzy, nil
}

// exact finds old in text. With all, places do not overlap; without, they may:
// then it is open which one is meant.
func exact(text, old string, all bool) (found []place) {
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 {
			return found
		}
		start := from + i
		found = append(found, place{start: start, end: start + len(old)})
		from = start + 1
		if all {
			from = start + len(old)
		}
	}
}

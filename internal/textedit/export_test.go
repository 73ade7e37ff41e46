package textedit

import "context"

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

// Match is where Apply finds old.
func Match(content, old string, all bool) (Matches, error) {
	v := newView(context.Background(), content)
	found, err := find(context.Background(), v, toLF(strings.TrimPrefix(old, bom)), all)
	if err != nil {
		return Matches{}, err
	}
	m := Matches{Fuzzy: found.fuzzy}
	for p := range found.places {
		m.Spans = append(m.Spans, Span{v.origin(p.start), v.origin(p.end)})
	}
	return m, nil
}

// Forgive compares lines within a bound of their own.
func Forgive(have, want []string, keepIndent bool) (Respelling, bool) {
	return new(Forgiver).Forgive(have, want, keepIndent)
}

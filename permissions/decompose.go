package permissions

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// decompose returns the canonical decomposition of a rune, or the rune itself. macOS
// takes composed and decomposed spellings of a name for the same file, so denies must.
func decompose(r rune) string {
	if r < 0xC0 {
		return string(r)
	}
	if d, ok := hangul(r); ok {
		return d
	}
	if d, ok := decompositions()[r]; ok {
		return d
	}
	return string(r)
}

// hangul takes a syllable apart by arithmetic, as the Unicode standard defines it.
func hangul(r rune) (string, bool) {
	const (
		first, last     = 0xAC00, 0xD7A3
		lead, vowel     = 0x1100, 0x1161
		trail           = 0x11A7
		vowels, perLead = 28, 588
	)
	if r < first || r > last {
		return "", false
	}
	s := r - first
	d := string(lead+s/perLead) + string(vowel+s%perLead/vowels)
	if t := s % vowels; t != 0 {
		d += string(trail + t)
	}
	return d, true
}

// decompositions parses the table on first use: most names never need it.
//
//nolint:gochecknoglobals // a constant that Go cannot spell as one
var decompositions = sync.OnceValue(func() map[rune]string {
	m := map[rune]string{}
	for record := range strings.SplitSeq(decompositionTable, "|") {
		r, size := utf8.DecodeRuneInString(record)
		m[r] = record[size:]
	}
	return m
})

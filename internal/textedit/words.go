package textedit

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Op says what became of a part of a text.
type Op int

const (
	// Keep is text on both sides.
	Keep Op = iota
	// Drop is text of the old side only.
	Drop
	// Add is text of the new side only.
	Add
)

// A Word is a run of words with one fate.
type Word struct {
	Op   Op
	Text string
}

const (
	maxWords  = 8_000
	wordsTime = 50 * time.Millisecond
)

// Words compares two texts word by word, for highlighting what changed within
// lines. The Keep and Drop texts together are old, Keep and Add are new. Texts
// too large to compare come back as one Drop and one Add.
func Words(old, new string) []Word {
	was, now := tokens(old), tokens(new)
	if len(was)+len(now) > maxWords {
		return whole(old, new)
	}
	// Each distinct word becomes one rune; the diff is then one of runes.
	ids, words := map[string]rune{}, []string{}
	encode := func(tokens []string) []rune {
		runes := make([]rune, len(tokens))
		for i, t := range tokens {
			id, ok := ids[t]
			if !ok {
				id = rune(len(words) + 1)
				ids[t] = id
				words = append(words, t)
			}
			runes[i] = id
		}
		return runes
	}
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = wordsTime
	var out []Word
	for _, d := range dmp.DiffMainRunes(encode(was), encode(now), false) {
		var text strings.Builder
		for _, id := range d.Text {
			text.WriteString(words[id-1])
		}
		out = append(out, Word{opOf(d.Type), text.String()})
	}
	return out
}

func opOf(op diffmatchpatch.Operation) Op {
	switch op {
	case diffmatchpatch.DiffDelete:
		return Drop
	case diffmatchpatch.DiffInsert:
		return Add
	}
	return Keep
}

func whole(old, new string) []Word {
	var out []Word
	if old != "" {
		out = append(out, Word{Drop, old})
	}
	if new != "" {
		out = append(out, Word{Add, new})
	}
	return out
}

// tokens cuts text into words, runs of blanks, and single other characters.
func tokens(s string) []string {
	var out []string
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		kind := kindOf(r)
		for kind != 0 && size < len(s) {
			next, n := utf8.DecodeRuneInString(s[size:])
			if kindOf(next) != kind {
				break
			}
			size += n
		}
		out = append(out, s[:size])
		s = s[size:]
	}
	return out
}

// kindOf is 1 within words, 2 within blanks, 0 for what stands alone.
func kindOf(r rune) int {
	switch {
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 1
	case r == ' ' || r == '\t':
		return 2
	}
	return 0
}

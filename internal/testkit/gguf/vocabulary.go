package gguf

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Vocabulary is what a text is made of for a model: every byte, and longer pieces, each
// joined of two others.
type Vocabulary struct {
	// Pieces are the texts, bytes first, each byte written as the letter that stands for it.
	Pieces []string
	// Merges are the joined pieces, the earlier the stronger: "left right".
	Merges []string
}

// Learn makes a vocabulary for texts like this one: it joins what stands side by side most
// often, up to so many times. The same text gives the same vocabulary.
func Learn(text string, merges int) Vocabulary {
	letters := letters()
	v := Vocabulary{Pieces: slices.Clone(letters[:])}
	words := split(text, letters)
	for range merges {
		best, times := strongest(words)
		if times < 2 {
			break
		}
		for i := range words {
			words[i].join(best)
		}
		v.Pieces = append(v.Pieces, best.left+best.right)
		v.Merges = append(v.Merges, best.left+" "+best.right)
	}
	return v
}

// letters are the printable letters that stand for bytes in vocabularies of GPT-2's kind:
// a printable byte of Latin-1 for itself, the others for what follows after Latin-1.
func letters() [256]string {
	var table [256]string
	next := rune(256)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xA1 && b != 0xAD {
			table[b] = string(b)
			continue
		}
		table[b] = string(next)
		next++
	}
	return table
}

// broken reports whether a piece is not whole letters, such as a single byte of one.
func broken(piece string, letters [256]string) bool {
	var text []byte
	for _, letter := range piece {
		text = append(text, byte(slices.Index(letters[:], string(letter))))
	}
	return !utf8.Valid(text)
}

// word is a word of the text in its pieces, and how often it stands there.
type word struct {
	pieces []string
	times  int
}

type pair struct{ left, right string }

// wordPattern splits a text about as the reader of the format does for "gpt-2".
var wordPattern = regexp.MustCompile(` ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+`)

func split(text string, letters [256]string) []word {
	times := map[string]int{}
	for _, w := range wordPattern.FindAllString(text, -1) {
		times[w]++
	}
	var words []word
	for _, w := range slices.Sorted(maps.Keys(times)) {
		one := word{times: times[w]}
		for _, b := range []byte(w) {
			one.pieces = append(one.pieces, letters[b])
		}
		words = append(words, one)
	}
	return words
}

// strongest is the pair that stands side by side most often; of equals, the first of the
// alphabet.
func strongest(words []word) (best pair, times int) {
	counts := map[pair]int{}
	for _, w := range words {
		for i := range len(w.pieces) - 1 {
			counts[pair{w.pieces[i], w.pieces[i+1]}] += w.times
		}
	}
	for p, n := range counts {
		if n > times || n == times && comparePairs(p, best) < 0 {
			best, times = p, n
		}
	}
	return best, times
}

func comparePairs(a, b pair) int {
	return cmp.Or(strings.Compare(a.left, b.left), strings.Compare(a.right, b.right))
}

// join makes one piece of each such pair in the word.
func (w *word) join(p pair) {
	kept := w.pieces[:0]
	for i := 0; i < len(w.pieces); i++ {
		if i+1 < len(w.pieces) && w.pieces[i] == p.left && w.pieces[i+1] == p.right {
			kept = append(kept, p.left+p.right)
			i++
			continue
		}
		kept = append(kept, w.pieces[i])
	}
	w.pieces = kept
}

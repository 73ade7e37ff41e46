package bm25

import (
	"strings"
	"unicode"
)

// terms splits a text into lower-case terms without plural endings. A word in
// camelCase gives its parts and the whole, so that "GitHub" is found as "hub"
// and as "github". Characters of scripts that write no spaces are terms of
// their own.
func terms(text string) []string {
	var found []string
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		parts := split([]rune(word))
		for _, part := range parts {
			found = append(found, stem(strings.ToLower(part)))
		}
		if len(parts) > 1 && !spaceless([]rune(word)[0]) {
			found = append(found, stem(strings.ToLower(word)))
		}
	}
	return found
}

// split cuts a run of letters and digits at the humps of camelCase ("loadURL",
// "HTTPServer") and around characters that stand alone.
func split(word []rune) []string {
	var parts []string
	start := 0
	for i := 1; i < len(word); i++ {
		before, here := word[i-1], word[i]
		hump := unicode.IsUpper(here) && !unicode.IsUpper(before)
		lastOfCapitals := unicode.IsUpper(before) && unicode.IsUpper(here) && i+1 < len(word) && unicode.IsLower(word[i+1])
		if hump || lastOfCapitals || spaceless(before) || spaceless(here) {
			parts = append(parts, string(word[start:i]))
			start = i
		}
	}
	return append(parts, string(word[start:]))
}

// spaceless reports whether a character belongs to a script that writes words
// without spaces between them.
func spaceless(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// stem takes plural endings off a lower-case word. What it gives need be no
// word, only the same for singular and plural: "cach" for cache and caches,
// "queri" for query and queries.
func stem(word string) string {
	const shortest = 4
	if len(word) >= shortest && strings.HasSuffix(word, "s") && !hasSuffix(word, "ss", "us", "is") {
		word = word[:len(word)-1]
	}
	if len(word) >= shortest && strings.HasSuffix(word, "e") {
		word = word[:len(word)-1]
	}
	if len(word) >= shortest && strings.HasSuffix(word, "y") {
		word = word[:len(word)-1] + "i"
	}
	return word
}

func hasSuffix(word string, endings ...string) bool {
	for _, ending := range endings {
		if strings.HasSuffix(word, ending) {
			return true
		}
	}
	return false
}

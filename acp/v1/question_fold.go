package v1

import (
	"strings"
	"unicode"
)

// The letters of other alphabets that look like Latin ones, and Latin ones with
// marks, each above the letter that it is read as.
const (
	alikeLetters = "авеѕіїјкмнорстухһԁԛԝӏё" + "αβεικνορτυχηωγσς" + "ıɑɡſ" + "àáâãäåāąçćčèéêëēęėğìíîïīłñńňòóôõöøōőřśšşțţùúûüūůűýÿźżž"
	alikeLatin   = "abesiijkmhopctyxhdqwle" + "abeiknoptuxnwyss" + "iags" + "aaaaaaaaccceeeeeeegiiiiilnnnoooooooorsssttuuuuuuuyyzzz"
)

// letterFold maps each of alikeLetters to what it is read as.
func letterFold() map[rune]rune {
	latin := []rune(alikeLatin)
	fold := map[rune]rune{}
	i := 0
	for _, r := range alikeLetters {
		if _, known := fold[r]; !known {
			fold[r] = latin[i]
		}
		i++
	}
	return fold
}

// aWord is a word of a question, folded: lower case, letters that look like
// Latin ones replaced by those, without the s of a plural.
type aWord struct {
	text string
	// apart says that punctuation stands before it, first that it begins a
	// sentence, capitals that it is written in capital letters.
	apart, first, capitals bool
}

// wordsOf takes a text apart. Blanks, hyphens, underscores and, with names, a
// capital letter inside a name part words; every other sign parts phrases, and
// some sentences.
func wordsOf(text string, fold map[rune]rune, names bool) (words []aWord) {
	var b strings.Builder
	next := aWord{apart: true, first: true}
	small := false // the last letter was
	end := func() {
		if b.Len() == 0 {
			return
		}
		raw := b.String()
		next.text, next.capitals = foldWord(raw, fold), raw == strings.ToUpper(raw)
		words = append(words, next)
		next, small = aWord{}, false
		b.Reset()
	}
	for _, r := range text {
		if r >= '！' && r <= '～' {
			r -= '！' - '!' // letters of full width
		}
		switch {
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r):
			// neither is seen between letters
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if names && small && unicode.IsUpper(r) {
				end()
			}
			b.WriteRune(r)
			small = unicode.IsLower(r)
		case r == '\'' || r == '’':
			end() // what's, user's
		default:
			end()
			next.apart = next.apart || r != ' ' && r != '-' && r != '_' && r != '\t' && r != '"' && r != '`' && r != '*'
			next.first = next.first || strings.ContainsRune(".?!;\n。？！", r)
		}
	}
	end()
	return words
}

// foldWord makes one of the ways to write a word.
func foldWord(word string, fold map[rune]rune) string {
	word = strings.Map(func(r rune) rune {
		if to, ok := fold[r]; ok {
			return to
		}
		return r
	}, strings.ToLower(word))
	if len(word) > 3 {
		word = strings.TrimSuffix(word, "s")
	}
	return word
}

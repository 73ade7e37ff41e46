package textcut

import "unicode/utf8"

// Text is what can be cut.
type Text interface{ ~string | ~[]byte }

// First returns the beginning of a text, at most limit bytes of it. Text that is not UTF-8
// at the cut is cut at the limit.
func First[T Text](text T, limit int) T {
	if len(text) <= limit {
		return text
	}
	for back := 0; back < utf8.UTFMax && back <= limit; back++ {
		if utf8.RuneStart(text[limit-back]) {
			return text[:limit-back]
		}
	}
	return text[:max(limit, 0)]
}

// Last returns the end of a text, at most limit bytes of it. Text that is not UTF-8 at the
// cut is cut at the limit.
func Last[T Text](text T, limit int) T {
	if len(text) <= limit {
		return text
	}
	return text[character(text, len(text)-max(limit, 0)):]
}

// character is where the next character begins, at or after a place; the place itself when
// the text is not UTF-8 there.
func character[T Text](text T, from int) int {
	for at := from; at < min(len(text), from+utf8.UTFMax); at++ {
		if utf8.RuneStart(text[at]) {
			return at
		}
	}
	if len(text)-from < utf8.UTFMax {
		return len(text)
	}
	return from
}

// Whole returns a text without the character at its end that is cut short, if there is one.
func Whole[T Text](text T) T {
	for at := len(text) - 1; at >= max(0, len(text)-utf8.UTFMax); at-- {
		if utf8.RuneStart(text[at]) {
			if !utf8.FullRuneInString(string(text[at:])) {
				return text[:at]
			}
			break
		}
	}
	return text
}

// Characters returns the first limit characters of a text. A byte that is not UTF-8 counts
// as one.
func Characters[T Text](text T, limit int) T {
	end := 0
	for ; limit > 0 && end < len(text); limit-- {
		if text[end] < utf8.RuneSelf {
			end++
			continue
		}
		_, size := utf8.DecodeRuneInString(string(text[end:min(end+utf8.UTFMax, len(text))]))
		end += size
	}
	return text[:end]
}

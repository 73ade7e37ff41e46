package v1

import (
	"strings"
	"unicode"
)

// literal escapes a text so that Markdown shows it as it is, line by line. A question is written
// by the model, and a notice may quote an untrusted file or name files such as __init__.py.
func literal(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = escapeLine(strings.TrimLeft(line, " \t"), false)
	}
	return strings.Join(lines, "\n")
}

// literalWithCode is literal, but keeps code spans in lines whose backquotes are single and in
// pairs. A span over several lines could end early, and Markdown would read code as an image.
func literalWithCode(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimLeft(line, " \t")
		if strings.Count(line, "`")%2 != 0 || strings.Contains(line, "``") {
			lines[i] = escapeLine(line, false)
			continue
		}
		runes := []rune(line)
		marker, code := blockMarker(runes), false
		lines[i] = escapeRunes(runes, func(at int) bool {
			if runes[at] == '`' {
				code = !code
				return false
			}
			return !code && (at == marker || marksUp(runes, at))
		})
	}
	return strings.Join(lines, "\n")
}

// escapeLine escapes a line so that Markdown shows it as it is. With typographic, it also
// escapes quotes, dashes and dots that a renderer would replace. A character without a meaning
// at its place is not escaped.
func escapeLine(line string, typographic bool) string {
	runes := []rune(line)
	marker := blockMarker(runes)
	return escapeRunes(runes, func(i int) bool {
		return i == marker || marksUp(runes, i) || typographic && isReplaced(runes, i)
	})
}

// escapeRunes escapes the runes for which escaped returns true; it is called for each in turn.
func escapeRunes(runes []rune, escaped func(i int) bool) string {
	var b strings.Builder
	for i, r := range runes {
		if escaped(i) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// blockMarker is the index of the rune that makes the line a list item, a heading, a
// quotation, a table, a definition or a fence, or -1 for an ordinary line.
func blockMarker(runes []rune) int {
	if len(runes) > 0 && strings.ContainsRune("#+-:=>|~", runes[0]) {
		return 0
	}
	i := 0
	for i < len(runes) && runes[i] >= '0' && runes[i] <= '9' {
		i++
	}
	if i > 0 && i < len(runes) && (runes[i] == '.' || runes[i] == ')') {
		return i
	}
	return -1
}

// marksUp reports whether Markdown would read the rune at i as markup.
func marksUp(runes []rune, i int) bool {
	switch next := runeAt(runes, i+1); runes[i] {
	case '`', '*', '[', '<':
		return true
	case '_':
		return !inWord(runes, i)
	case '~':
		return next == '~' || !unicode.IsSpace(runeAt(runes, i-1)) // otherwise it closes nothing
	case '&':
		return isWord(runes, i+1) || next == '#'
	case '\\':
		return i == len(runes)-1 || next < unicode.MaxASCII && (unicode.IsPunct(next) || unicode.IsSymbol(next))
	}
	return false
}

// isReplaced reports whether a renderer with typographic replacements, formulas, tables or
// footnotes would show something else for the rune at i.
func isReplaced(runes []rune, i int) bool {
	switch runes[i] {
	case ']', '>', '~', '^', '$', '|', '"':
		return true
	case '\'':
		return !isWord(runes, i-1) || !isWord(runes, i+1)
	case '-':
		return runeAt(runes, i+1) == '-'
	case '.':
		return runeAt(runes, i+1) == '.' && runeAt(runes, i+2) == '.'
	}
	return false
}

// runeAt is the rune at an index, and a blank outside the text.
func runeAt(runes []rune, i int) rune {
	if i < 0 || i >= len(runes) {
		return ' '
	}
	return runes[i]
}

func isWord(runes []rune, i int) bool {
	r := runeAt(runes, i)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// inWord reports whether the run of underscores at i stands within a word, where it does not
// mark emphasis.
func inWord(runes []rune, i int) bool {
	from, to := i, i
	for runeAt(runes, from) == '_' {
		from--
	}
	for runeAt(runes, to) == '_' {
		to++
	}
	return isWord(runes, from) && isWord(runes, to)
}

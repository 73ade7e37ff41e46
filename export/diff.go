package export

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"github.com/sergi/go-diff/diffmatchpatch"
)

const (
	contextLines = 3
	// maxDiffRows bounds what is shown of one change.
	maxDiffRows = 1000
	// maxWordTokens bounds the lines of which words are compared.
	maxWordTokens = 400
)

// row is a line before and after, side by side. A number of 0 is not a line.
type row struct {
	oldLine, newLine int
	old, new         string
	// skipped counts unchanged lines that stand here and are not shown.
	skipped int
}

// changed reports whether the two sides differ.
func (r row) changed() bool {
	return r.skipped == 0 && (r.oldLine == 0 || r.newLine == 0 || r.old != r.new)
}

// sideBySide compares two texts line by line.
func sideBySide(before, after string) []row {
	var rows []row
	oldLine, newLine, at := 1, 1, 0
	same := func(text string) {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			rows = append(rows, row{oldLine: oldLine, newLine: newLine, old: line, new: line})
			oldLine, newLine = oldLine+1, newLine+1
		}
	}
	for _, edit := range udiff.Lines(before, after) {
		same(before[at:edit.Start])
		removed, added := lines(before[edit.Start:edit.End]), lines(edit.New)
		for i := range max(len(removed), len(added)) {
			var r row
			if i < len(removed) {
				r.oldLine, r.old = oldLine, removed[i]
				oldLine++
			}
			if i < len(added) {
				r.newLine, r.new = newLine, added[i]
				newLine++
			}
			rows = append(rows, r)
		}
		at = edit.End
	}
	same(before[at:])
	return rows
}

// lines are the lines of a text without their ends.
func lines(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		list = append(list, strings.TrimSuffix(line, "\n"))
	}
	return list
}

// excerpt leaves out unchanged lines that are far from a change, and what is too much. rest
// counts the rows that were cut off at the end.
func excerpt(rows []row) (shown []row, rest int) {
	near := make([]bool, len(rows))
	for i, r := range rows {
		if !r.changed() {
			continue
		}
		for k := max(0, i-contextLines); k <= min(len(rows)-1, i+contextLines); k++ {
			near[k] = true
		}
	}
	skipped := 0
	for i, r := range rows {
		if !near[i] {
			skipped++
			continue
		}
		if len(shown) >= maxDiffRows {
			return shown, len(rows) - i
		}
		if skipped > 0 {
			shown = append(shown, row{skipped: skipped})
			skipped = 0
		}
		shown = append(shown, r)
	}
	if skipped > 0 && len(shown) > 0 {
		shown = append(shown, row{skipped: skipped})
	}
	return shown, 0
}

// counts are the numbers of added and removed lines.
func counts(rows []row) (added, removed int) {
	for _, r := range rows {
		if !r.changed() {
			continue
		}
		if r.oldLine > 0 {
			removed++
		}
		if r.newLine > 0 {
			added++
		}
	}
	return added, removed
}

// piece is a part of a line; changed says that the other side has something else there.
type piece struct {
	text    string
	changed bool
}

// words compares two lines word by word. Lines that have nothing in common, or are too long, are
// one piece each.
func words(before, after string) (old, new []piece) {
	a, b := tokens(before), tokens(after)
	if len(a)+len(b) > maxWordTokens {
		return []piece{{before, true}}, []piece{{after, true}}
	}
	codes, names := map[string]rune{}, map[rune]string{}
	encode := func(tokens []string) []rune {
		var runes []rune
		for _, token := range tokens {
			code, known := codes[token]
			if !known {
				code = rune(0xf0000 + len(codes)) // private use: no text of its own
				codes[token], names[code] = code, token
			}
			runes = append(runes, code)
		}
		return runes
	}
	matcher := diffmatchpatch.New()
	matcher.DiffTimeout = 0 // the same result on every machine
	common := false
	for _, d := range matcher.DiffMainRunes(encode(a), encode(b), false) {
		var text strings.Builder
		for _, code := range d.Text {
			text.WriteString(names[code])
		}
		switch d.Type {
		case diffmatchpatch.DiffEqual:
			common = common || strings.TrimSpace(text.String()) != ""
			old, new = append(old, piece{text.String(), false}), append(new, piece{text.String(), false})
		case diffmatchpatch.DiffDelete:
			old = append(old, piece{text.String(), true})
		case diffmatchpatch.DiffInsert:
			new = append(new, piece{text.String(), true})
		}
	}
	if !common {
		return []piece{{before, true}}, []piece{{after, true}}
	}
	return old, new
}

// tokens splits a line into words, blanks and single signs.
func tokens(line string) []string {
	var list []string
	for line != "" {
		first, size := utf8.DecodeRuneInString(line)
		end := size
		for class := classOf(first); class != sign && end < len(line); end += size {
			var r rune
			if r, size = utf8.DecodeRuneInString(line[end:]); classOf(r) != class {
				break
			}
		}
		list = append(list, line[:end])
		line = line[end:]
	}
	return list
}

const (
	sign = iota
	letter
	blank
)

func classOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return blank
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return letter
	}
	return sign
}

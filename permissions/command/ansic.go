package command

import (
	"strconv"
	"strings"
)

// ansiC decodes the text of $'…', as far as it can be told. A word that holds one with escapes asks in
// any case, but it must not hide what is denied.
func ansiC(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; {
		case c == 'x':
			i += writeEscape(&b, text[i+1:], 16, 2)
		case '0' <= c && c <= '7':
			i += writeEscape(&b, text[i:], 8, 3) - 1
		case c == 'n':
			b.WriteByte('\n')
		case c == 't':
			b.WriteByte('\t')
		case strings.IndexByte(`\'"?`, c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteString(unknown)
		}
	}
	return b.String()
}

// writeEscape writes the byte whose digits stand at the front of text, and returns how many digits it
// read. most bounds them.
func writeEscape(b *strings.Builder, text string, base, most int) (digits int) {
	for digits < most && digits < len(text) {
		if _, err := strconv.ParseUint(text[:digits+1], base, 16); err != nil {
			break
		}
		digits++
	}
	value, err := strconv.ParseUint(text[:digits], base, 16)
	if err != nil || value == 0 || value > 0xff {
		b.WriteString(unknown)
		return digits
	}
	b.WriteByte(byte(value))
	return digits
}

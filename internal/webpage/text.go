package webpage

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// wide reports text in UTF-16, which is full of NULs.
func wide(head []byte, contentType string) bool {
	if bytes.HasPrefix(head, []byte("\xfe\xff")) || bytes.HasPrefix(head, []byte("\xff\xfe")) {
		return true
	}
	_, name, certain := charset.DetermineEncoding(head, contentType)
	return certain && strings.HasPrefix(name, "utf-16")
}

// decode makes UTF-8 of a text. A guess of the encoding gives way to a text that
// is valid UTF-8 as a whole: the guess looks at the first kilobyte only.
func decode(body []byte, contentType string) string {
	encoding, name, certain := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return strings.ToValidUTF8(strings.TrimPrefix(string(body), "\ufeff"), "\ufffd")
	}
	decoded, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return strings.ToValidUTF8(string(body), "\ufffd")
	}
	return strings.TrimPrefix(string(decoded), "\ufeff")
}

// clean takes out what a reader does not see or a terminal would obey. Line ends
// become newlines.
func clean(text string) string {
	if !strings.ContainsFunc(text, unwanted) && utf8.ValidString(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\f' || r == '\v':
			return '\n'
		case unwanted(r):
			return -1
		}
		return r
	}, text)
}

// unwanted reports control characters but newline and tab, and characters that
// are invisible and change what a text seems to say: characters that turn it around,
// and tags, in which whole sentences can be hidden.
func unwanted(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0xfeff:
		return true
	}
	return r >= 0xe0000 && r <= 0xe007f
}

// oneLine makes a title of a text.
func oneLine(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(clean(text)), " ")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "..."
	}
	return text
}

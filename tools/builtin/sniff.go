package builtin

import (
	"bytes"
	"strings"
)

// sniffBytes is how much of a file's start decides what it is.
const sniffBytes = 8192

// imageType tells an image that models can look at by its first bytes (R28).
func imageType(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	}
	return ""
}

// hasNUL reports whether a text holds a NUL near its start, as no text does that
// can be edited.
func hasNUL(text string) bool {
	return strings.IndexByte(text[:min(len(text), sniffBytes)], 0) >= 0
}

// isBinary reports whether the bytes are not text in any encoding that shows
// as such: they hold a NUL, or more than a tenth of them are control characters
// that no text has.
func isBinary(head []byte) bool {
	odd := 0
	for _, c := range head {
		switch {
		case c == 0:
			return true
		case c < 0x20 && c != '\t' && c != '\n' && c != '\v' && c != '\f' && c != '\r' && c != '\b' && c != 0x1b:
			odd++
		}
	}
	return odd*10 > len(head)
}

package store

import (
	"bytes"
	"slices"
	"strings"

	"acp-agent/internal/jsonscan"
	"acp-agent/internal/textcut"
)

// leastSecret is the length of the shortest secret, as in internal/redact.
const leastSecret = 8

// cleanLong calls clean only for strings that are long enough to hold a secret.
func cleanLong(clean func(string) string) func(string) string {
	return func(text string) string {
		if len(text) < leastSecret {
			return text
		}
		return clean(text)
	}
}

// cleaner removes secrets from the strings of a valid JSON text. It looks at one string at a time and not
// at the text as a whole, because a pattern could match across quotes, and the result has to be JSON.
type cleaner struct {
	text   []byte
	pos    int
	copied int // how much of text is in out
	out    []byte
	path   []string // keys down to the current value; "" for the element of a list
	clean  func(string) string
	skip   func(path []string) bool
}

// cleanJSON returns text without secrets; text itself when there are none.
func cleanJSON(text []byte, clean func(string) string, skip func(path []string) bool) []byte {
	c := cleaner{text: text, clean: clean, skip: skip}
	c.value()
	if c.out == nil {
		return text
	}
	return append(c.out, c.text[c.copied:]...)
}

// skipPart reports whether a value of a part is left as it is: images, and what a server wants back
// unchanged.
func skipPart(path []string) bool {
	switch len(path) {
	case 1:
		return path[0] == "replay" || path[0] == "data"
	case 3:
		return path[2] == "data" && (path[0] == "images" || path[0] == "content")
	}
	return false
}

// skipInfo reports whether a value of an Info is left as it is: directories, because they are compared.
func skipInfo(path []string) bool {
	return slices.Equal(path, []string{"cwd"}) || slices.Equal(path, []string{"additional", ""})
}

func (c *cleaner) value() {
	if c.pos >= len(c.text) {
		return
	}
	switch c.text[c.pos] {
	case '{', '[':
		c.list()
	case '"':
		c.str()
	default:
		end := bytes.IndexAny(c.text[c.pos:], ",]}")
		if end < 0 {
			end = len(c.text) - c.pos
		}
		c.pos += end
	}
}

// list reads an object or an array. There is no space between tokens, because encode writes none.
func (c *cleaner) list() {
	object := c.text[c.pos] == '{'
	c.pos++
	for c.pos < len(c.text) {
		switch c.text[c.pos] {
		case '}', ']':
			c.pos++
			return
		case ',':
			c.pos++
			continue
		}
		key := ""
		if object {
			end := jsonscan.StringEnd(c.text[c.pos:])
			if end < 0 {
				c.pos = len(c.text)
				return
			}
			key = string(c.text[c.pos+1 : c.pos+end-1])
			c.str()
			c.pos++ // the colon
		}
		c.path = append(c.path, key)
		if c.skip != nil && c.skip(c.path) {
			skipped := cleaner{text: c.text, pos: c.pos, clean: func(s string) string { return s }}
			skipped.value()
			c.pos = skipped.pos
		} else {
			c.value()
		}
		c.path = c.path[:len(c.path)-1]
	}
}

func (c *cleaner) str() {
	end := jsonscan.StringEnd(c.text[c.pos:])
	if end < 0 {
		c.pos = len(c.text)
		return
	}
	from := c.pos
	c.pos += end
	quoted := c.text[from:c.pos]
	if len(quoted) < leastSecret+2 {
		return
	}
	cleaned, changed := jsonscan.ReplaceString(quoted, c.clean)
	if !changed {
		return
	}
	c.out = append(append(c.out, c.text[c.copied:from]...), cleaned...)
	c.copied = c.pos
}

// safeLength returns how much of a growing text can be written before the rest arrives, so that a secret
// that arrives in pieces is found as a whole: complete lines, a long line but for its end, and nothing of
// a key block that has not ended. If more than mostHeld bytes would wait, only half of mostHeld do: no
// secret is that long, and a longer wait would make each search slower.
func safeLength(text string) int {
	const longLine, held, mostHeld = 256, 128, 8 << 10
	end := strings.LastIndexByte(text, '\n') + 1
	if rest := text[end:]; len(rest) > longLine {
		end += strings.LastIndexByte(rest[:len(rest)-held], ' ') + 1
	}
	if begin := strings.LastIndex(text, "-----BEGIN"); begin >= 0 && begin > strings.LastIndex(text, "-----END") {
		end = min(end, begin)
	}
	if len(text)-end > mostHeld {
		end = len(textcut.First(text, len(text)-mostHeld/2))
	}
	return end
}

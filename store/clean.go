package store

import (
	"bytes"
	"slices"
	"strings"

	"acp-agent/internal/jsonscan"
	"acp-agent/internal/textcut"
)

// leastSecret is the length from which a string may hold a secret, as in internal/redact.
const leastSecret = 8

// cleanLong spares short strings the search for secrets.
func cleanLong(clean func(string) string) func(string) string {
	return func(text string) string {
		if len(text) < leastSecret {
			return text
		}
		return clean(text)
	}
}

// cleaner removes secrets from the strings of a JSON text that is valid. It works on strings
// and not on the text as a whole, because a secret's shape can reach across quotes, and what
// stands in its place must leave JSON behind.
type cleaner struct {
	text   []byte
	pos    int
	copied int // how much of text is in out
	out    []byte
	path   []string // keys down to the current value; "" for the element of a list
	clean  func(string) string
	skip   func(path []string) bool
}

// cleanJSON returns text itself when there is nothing to remove.
func cleanJSON(text []byte, clean func(string) string, skip func(path []string) bool) []byte {
	c := cleaner{text: text, clean: clean, skip: skip}
	c.value()
	if c.out == nil {
		return text
	}
	return append(c.out, c.text[c.copied:]...)
}

// skipPart tells what of a part is not searched: pictures, and what a server wants back
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

// skipInfo keeps directories as they are: they are compared.
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

// list reads an object or an array. encode writes no space between tokens.
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

// settled returns how much of a growing text can be written before more of it is known: whole
// lines, of a long line all but its end, and nothing of a key block that has not ended,
// so that a secret that arrives in pieces is seen as one. No secret is as long as mostHeld: of a
// text that does not settle for so long, only the end waits, or looking at it again and again
// would take longer the longer it is.
func settled(text string) int {
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

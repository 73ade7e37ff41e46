package record

import (
	"encoding/json"
	"strings"

	"acp-agent/internal/jsonscan"
)

// member is a member of a JSON object. A list has its elements in place of a value.
type member struct {
	name     string
	value    []byte
	list     bool
	elements [][]byte
}

// members cuts a JSON object into its members; ok is false when the text is not an object. It does not check
// values and elements.
func members(text []byte) (list []member, ok bool) {
	c := cutter{text: text}
	c.expect('{')
	for !c.bad && !c.closes('}', len(list) > 0) {
		var m member
		c.bad = json.Unmarshal(c.value(), &m.name) != nil || c.bad
		c.expect(':')
		c.member(&m)
		list = append(list, m)
	}
	return list, c.peek() == 0 && !c.bad
}

// cutter cuts the first level of a JSON text.
type cutter struct {
	text []byte
	at   int
	bad  bool // the text is not JSON
}

const blank = " \t\r\n"

// peek skips blanks and returns the next character; 0 at the end.
func (c *cutter) peek() byte {
	for c.at < len(c.text) && strings.IndexByte(blank, c.text[c.at]) >= 0 {
		c.at++
	}
	if c.bad || c.at == len(c.text) {
		return 0
	}
	return c.text[c.at]
}

// expect skips a character, which has to come next.
func (c *cutter) expect(char byte) {
	if c.bad = c.peek() != char || c.bad; !c.bad {
		c.at++
	}
}

// closes skips the last character of an object or list and reports true, or the comma before the next value;
// more says that values came before.
func (c *cutter) closes(last byte, more bool) bool {
	if c.peek() == last {
		c.at++
		return true
	}
	if more {
		c.expect(',')
	}
	return false
}

// member cuts the value of a member.
func (c *cutter) member(m *member) {
	if m.list = c.peek() == '['; !m.list {
		m.value = c.value()
		return
	}
	for c.at++; !c.bad && !c.closes(']', len(m.elements) > 0); {
		m.elements = append(m.elements, c.value())
	}
}

// value skips a value and returns it.
func (c *cutter) value() []byte {
	c.peek()
	from, depth := c.at, 0
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case '"':
			size := jsonscan.StringEnd(c.text[c.at:])
			if c.bad = c.bad || size < 0; c.bad {
				return nil
			}
			c.at += size
			if depth == 0 {
				return c.text[from:c.at]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				c.at++
				return c.text[from:c.at]
			}
		}
		if depth <= 0 && strings.IndexByte(",:}]"+blank, c.text[c.at]) >= 0 {
			break
		}
		c.at++
	}
	c.bad = c.bad || c.at == from
	return c.text[from:c.at]
}

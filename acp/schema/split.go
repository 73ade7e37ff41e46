package schema

import "bytes"

// The functions here cut JSON that is known to be valid into pieces, without looking
// into the pieces: an image of several megabytes inside a prompt is passed over at the
// speed of a byte search. Input that is not valid is cut wrongly or refused, never read
// out of bounds. acp/rpc has a scanner of its own, because it checks what it reads.

// cutter walks over one JSON text.
type cutter struct {
	text []byte
	pos  int
}

// member is one name and value of an object, both raw.
type member struct{ name, value []byte }

// members cuts an object. ok is false if raw is not an object.
func members(raw []byte) (list []member, ok bool) {
	c := cutter{text: raw}
	if !c.open('{') {
		return nil, false
	}
	list = make([]member, 0, 8)
	for !c.closed('}') {
		name, ok := c.value()
		if !ok || !c.skip(':') {
			return nil, false
		}
		value, ok := c.value()
		if !ok {
			return nil, false
		}
		list = append(list, member{name, value})
	}
	return list, c.atEnd()
}

// elements cuts an array. ok is false if raw is not an array.
func elements(raw []byte) (list [][]byte, ok bool) {
	c := cutter{text: raw}
	if !c.open('[') {
		return nil, false
	}
	for !c.closed(']') {
		value, ok := c.value()
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	return list, c.atEnd()
}

func (c *cutter) space() {
	for c.pos < len(c.text) {
		switch c.text[c.pos] {
		case ' ', '\t', '\n', '\r':
			c.pos++
		default:
			return
		}
	}
}

func (c *cutter) skip(b byte) bool {
	c.space()
	if c.pos < len(c.text) && c.text[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

func (c *cutter) open(b byte) bool { return c.skip(b) }

// closed passes a comma, or the closing bracket if it is there.
func (c *cutter) closed(b byte) bool {
	if c.skip(b) {
		return true
	}
	c.skip(',')
	return false
}

func (c *cutter) atEnd() bool {
	c.space()
	return c.pos == len(c.text)
}

// value passes one value and returns it.
func (c *cutter) value() ([]byte, bool) {
	c.space()
	start, depth := c.pos, 0
	for c.pos < len(c.text) {
		switch c.text[c.pos] {
		case '"':
			if !c.str() {
				return nil, false
			}
		case '{', '[':
			depth++
			c.pos++
		case '}', ']':
			depth--
			c.pos++
		default:
			if depth == 0 {
				return c.scalar(start)
			}
			c.pos++
		}
		if depth <= 0 {
			return c.text[start:c.pos:c.pos], depth == 0
		}
	}
	return nil, false
}

// str passes a string: up to a quote with an even number of backslashes before it.
func (c *cutter) str() bool {
	start := c.pos + 1
	for at := start; ; {
		i := bytes.IndexByte(c.text[at:], '"')
		if i < 0 {
			return false
		}
		at += i + 1
		escapes := 0
		for p := at - 2; p >= start && c.text[p] == '\\'; p-- {
			escapes++
		}
		if escapes%2 == 0 {
			c.pos = at
			return true
		}
	}
}

// scalar passes a number or a word.
func (c *cutter) scalar(start int) ([]byte, bool) {
	for c.pos < len(c.text) {
		switch c.text[c.pos] {
		case ',', '}', ']', ':', ' ', '\t', '\n', '\r':
			return c.text[start:c.pos:c.pos], c.pos > start
		}
		c.pos++
	}
	return c.text[start:c.pos:c.pos], c.pos > start
}

package rpc

// member is one name and value of a JSON object, both raw.
type member struct{ name, value []byte }

// scan reads one JSON text in a single pass, which does for the whole connection what
// would otherwise be a syntax check, a depth check and a decode of the outer object:
// on a prompt with an image of several megabytes each of these is felt. An outline, which is
// written to piece by piece, cannot use it.
type scan struct {
	text    []byte
	pos     int
	open    []byte   // the containers around pos, '{' or '[' each
	deepest int      // greatest length of open
	members []member // of the outermost object
}

// parse reports whether the text is exactly one JSON value (RFC 8259). The text must
// be valid UTF-8, which is checked elsewhere. Members of a top-level object are noted.
func (s *scan) parse() bool {
	s.space()
	for {
		entered, ok := s.value()
		if !ok {
			return false
		}
		if entered {
			continue // an element or the first member's value follows
		}
		more, ok := s.afterValue()
		if !ok {
			return false
		}
		if !more {
			s.space()
			return s.pos == len(s.text)
		}
	}
}

// value reads one scalar, or the opening of a container (and with an object its first
// name); entered says that a value inside that container comes next.
func (s *scan) value() (entered, ok bool) {
	c := s.peek()
	switch {
	case c == '{' || c == '[':
		s.pos++
		s.open = append(s.open, c)
		s.deepest = max(s.deepest, len(s.open))
		s.space()
		if s.peek() == c+2 { // ']' and '}' stand two after their openings
			return false, true
		}
		if c == '{' {
			return true, s.name()
		}
		return true, true
	case c == '"':
		return false, s.str()
	case c == '-' || isDigit(c):
		return false, s.number()
	case c == 't':
		return false, s.word("true")
	case c == 'f':
		return false, s.word("false")
	case c == 'n':
		return false, s.word("null")
	}
	return false, false
}

// afterValue closes the containers that end here; more says that another value
// follows, whose name, if it has one, has been read.
func (s *scan) afterValue() (more, ok bool) {
	for len(s.open) > 0 {
		s.endMember()
		s.space()
		c, around := s.peek(), s.open[len(s.open)-1]
		s.pos++
		switch {
		case c == around+2:
			s.open = s.open[:len(s.open)-1]
		case c == ',':
			s.space()
			return true, around == '[' || s.name()
		default:
			return false, false
		}
	}
	return false, true
}

// name reads a member name and its colon.
func (s *scan) name() bool {
	start := s.pos
	if s.peek() != '"' || !s.str() {
		return false
	}
	end := s.pos
	s.space()
	if s.peek() != ':' {
		return false
	}
	s.pos++
	s.space()
	if len(s.open) == 1 {
		s.members = append(s.members, member{name: s.text[start:end], value: s.text[s.pos:]})
	}
	return true
}

// endMember cuts the value of the current top-level member, so far the rest of the
// text, at its end. It is called once for each.
func (s *scan) endMember() {
	if len(s.open) != 1 || s.open[0] != '{' || len(s.members) == 0 {
		return
	}
	last := &s.members[len(s.members)-1]
	end := len(last.value) - (len(s.text) - s.pos)
	last.value = last.value[:end:end]
}

func (s *scan) str() bool {
	s.pos++
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == '"':
			s.pos++
			return true
		case c == '\\':
			if !s.escape() {
				return false
			}
		case c < ' ':
			return false
		default:
			s.pos++
		}
	}
	return false
}

func (s *scan) escape() bool {
	s.pos++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos++
		return true
	case 'u':
		s.pos++
		for range 4 {
			if !isHex(s.peek()) {
				return false
			}
			s.pos++
		}
		return true
	}
	return false
}

func (s *scan) number() bool {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return true
}

func (s *scan) digits() bool {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	return s.pos > start
}

func (s *scan) word(w string) bool {
	if len(s.text)-s.pos < len(w) || string(s.text[s.pos:s.pos+len(w)]) != w {
		return false
	}
	s.pos += len(w)
	return true
}

func (s *scan) space() {
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the byte at pos, or 0 at the end: no rule accepts a NUL.
func (s *scan) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

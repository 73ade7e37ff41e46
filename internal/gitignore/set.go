package gitignore

import "strings"

// byteSet is a set of bytes, one bit each.
type byteSet [4]uint64

func (b *byteSet) add(c byte)      { b[c>>6] |= 1 << (c & 63) }
func (b *byteSet) has(c byte) bool { return b[c>>6]&(1<<(c&63)) != 0 }

func (b *byteSet) addRange(lo, hi byte) {
	for c := int(lo); c <= int(hi); c++ {
		b.add(byte(c))
	}
}

func (b *byteSet) invert() {
	for i := range b {
		b[i] = ^b[i]
	}
}

// compileSet reads the bracket expression at the start of s and returns its
// length. A "]" right after the opening (or its negation) stands for itself.
func compileSet(s string) (set *byteSet, size int, ok bool) {
	set = &byteSet{}
	i := 1
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	var low byte // what a following "-" starts a range from; 0: nothing
	for first := true; ; first = false {
		if i >= len(s) {
			return nil, 0, false
		}
		c := s[i]
		switch {
		case c == ']' && !first:
			if negated {
				set.invert()
			}
			return set, i + 1, true
		case c == '-' && low != 0 && i+1 < len(s) && s[i+1] != ']':
			high, n, ok := escaped(s[i+1:])
			if !ok {
				return nil, 0, false
			}
			set.addRange(low, high)
			low = 0
			i += 1 + n
		case strings.HasPrefix(s[i:], "[:"):
			n, named, ok := compileClass(set, s[i:])
			if !ok {
				return nil, 0, false
			}
			low = 0
			if !named {
				low = '['
			}
			i += n
		default:
			c, n, ok := escaped(s[i:])
			if !ok {
				return nil, 0, false
			}
			set.add(c)
			low = c
			i += n
		}
	}
}

// escaped reads one byte, or a backslash and the byte it quotes.
func escaped(s string) (c byte, size int, ok bool) {
	if s[0] != '\\' {
		return s[0], 1, true
	}
	if len(s) < 2 {
		return 0, 0, false
	}
	return s[1], 2, true
}

// compileClass reads "[:name:]" at the start of s. Without its end the bracket
// is a plain member of the set, and named is false.
func compileClass(set *byteSet, s string) (size int, named, ok bool) {
	end := strings.IndexByte(s[2:], ']')
	if end < 0 {
		return 0, false, false
	}
	name, found := strings.CutSuffix(s[2:2+end], ":")
	if !found {
		set.add('[')
		return 1, false, true
	}
	member, known := classes(name)
	if !known {
		return 0, false, false
	}
	for c := range 128 {
		if member(byte(c)) {
			set.add(byte(c))
		}
	}
	return 2 + end + 1, true, true
}

// classes are the POSIX names, over ASCII as in git.
func classes(name string) (member func(byte) bool, known bool) {
	lower := func(c byte) bool { return 'a' <= c && c <= 'z' }
	upper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	alpha := func(c byte) bool { return lower(c) || upper(c) }
	graph := func(c byte) bool { return '!' <= c && c <= '~' }
	switch name {
	case "alnum":
		return func(c byte) bool { return alpha(c) || digit(c) }, true
	case "alpha":
		return alpha, true
	case "blank":
		return func(c byte) bool { return c == ' ' || c == '\t' }, true
	case "cntrl":
		return func(c byte) bool { return c < ' ' || c == 0x7f }, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return func(c byte) bool { return graph(c) || c == ' ' }, true
	case "punct":
		return func(c byte) bool { return graph(c) && !alpha(c) && !digit(c) }, true
	case "space":
		return func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }, true
	case "upper":
		return upper, true
	case "xdigit":
		return func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }, true
	}
	return nil, false
}

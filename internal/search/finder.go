package search

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A finder looks for any string of a set. It is read-only and shared; the
// state of one scan is a [cursor].
type finder struct {
	fold    bool
	hasKS   bool // see cursor.reset
	streams []stream
	shift   *shiftTable // nil: follow the streams
	lower   [256]byte
}

// A stream follows one byte that is rare among those of its literals.
type stream struct {
	b    byte
	lits []placed
}

// placed is a literal with the offset of its rare byte, and that of another
// byte (in lower case with fold), looked at first.
type placed struct {
	text  string
	at    int
	probe int
	want  byte
}

// maxStreams bounds the bytes followed at once.
const maxStreams = 12

func newFinder(l literals) *finder {
	f := &finder{fold: l.fold}
	for c := range 256 {
		f.lower[c] = byte(c)
	}
	if l.fold {
		for c := 'A'; c <= 'Z'; c++ {
			f.lower[c] = byte(c + 'a' - 'A')
		}
		for _, s := range l.set {
			f.hasKS = f.hasKS || bytes.ContainsAny([]byte(s), "ks")
		}
	}
	for _, s := range l.set {
		f.addStream(s)
	}
	if shiftCost(l.set) < streamCost(l.set, l.fold) || len(f.streams) > maxStreams && !math.IsInf(shiftCost(l.set), 1) {
		f.shift = newShiftTable(l.set, l.fold)
	}
	return f
}

func (f *finder) addStream(s string) {
	at := rarest(s, f.fold)
	p := placed{text: s, at: at, probe: probe(s, at, f.fold)}
	p.want = s[p.probe]
	add := func(b byte) {
		for i := range f.streams {
			if f.streams[i].b == b {
				f.streams[i].lits = append(f.streams[i].lits, p)
				return
			}
		}
		f.streams = append(f.streams, stream{b: b, lits: []placed{p}})
	}
	b := s[at]
	add(b)
	if f.fold && 'a' <= b && b <= 'z' {
		add(b - 'a' + 'A')
	}
}

// probe is the offset of the second rarest byte of s, the rarest being at.
func probe(s string, at int, fold bool) int {
	best := -1
	for i := range len(s) {
		if i != at && (best < 0 || share(s[i], fold) < share(s[best], fold)) {
			best = i
		}
	}
	return max(best, 0)
}

// at reports whether b holds the literal at position i.
func (f *finder) at(b []byte, i int, s string) bool {
	if i < 0 || i+len(s) > len(b) {
		return false
	}
	got := b[i : i+len(s)]
	if !f.fold {
		return string(got) == s
	}
	for k := range len(s) {
		if f.lower[got[k]] != s[k] {
			return false
		}
	}
	return true
}

// A cursor is one scan of one text.
type cursor struct {
	f    *finder
	next []int // per stream: its next literal at or after the last search
}

func newCursor(f *finder) *cursor { return &cursor{f: f, next: make([]int, len(f.streams))} }

// reset starts a new text. It is false when the literals cannot be trusted in
// it: the long s and the Kelvin sign fold to s and k.
func (c *cursor) reset(b []byte) bool {
	for i := range c.next {
		c.next[i] = -1
	}
	return !c.f.hasKS || !bytes.Contains(b, []byte("ſ")) && !bytes.Contains(b, []byte("\u212a"))
}

// find returns a position inside the first line at or after pos that holds a
// literal, or -1. pos must be the start of a line and never move back.
func (c *cursor) find(b []byte, pos int) int {
	if c.f.shift != nil {
		return c.f.shift.find(c.f, b, pos)
	}
	first := len(b)
	for i := range c.next {
		if c.next[i] < pos {
			c.next[i] = c.f.follow(&c.f.streams[i], b, pos)
		}
		first = min(first, c.next[i])
	}
	if first == len(b) {
		return -1
	}
	return first
}

// follow is the next position of the stream's byte at which one of its
// literals stands, or len(b).
func (f *finder) follow(s *stream, b []byte, pos int) int {
	for {
		k := bytes.IndexByte(b[pos:], s.b)
		if k < 0 {
			return len(b)
		}
		pos += k
		for i := range s.lits {
			p := &s.lits[i]
			q := pos - p.at + p.probe
			if uint(q) < uint(len(b)) && f.lower[b[q]] == p.want && f.at(b, pos-p.at, p.text) {
				return pos
			}
		}
		pos++
	}
}

// A shiftTable jumps over text in which no literal can end: for each pair of
// bytes it holds how far the window may move (Wu and Manber's method).
type shiftTable struct {
	shortest int
	shift    [1 << 16]uint8
	ends     map[uint16][]string // literals whose first shortest bytes end in the pair
}

func newShiftTable(set []string, fold bool) *shiftTable {
	t := &shiftTable{shortest: math.MaxUint8, ends: map[uint16][]string{}}
	for _, s := range set {
		t.shortest = min(t.shortest, len(s))
	}
	for i := range t.shift {
		t.shift[i] = uint8(t.shortest - 1)
	}
	for _, s := range set {
		for i := 0; i+1 < t.shortest; i++ {
			dist := uint8(t.shortest - 2 - i)
			for _, pair := range pairs(s[i], s[i+1], fold) {
				t.shift[pair] = min(t.shift[pair], dist)
				if dist == 0 {
					t.ends[pair] = append(t.ends[pair], s)
				}
			}
		}
	}
	return t
}

// pairs are the two bytes as one number, in every case with fold.
func pairs(a, b byte, fold bool) []uint16 {
	as, bs := []byte{a}, []byte{b}
	if fold {
		as, bs = bothCases(a), bothCases(b)
	}
	var out []uint16
	for _, x := range as {
		for _, y := range bs {
			out = append(out, uint16(x)|uint16(y)<<8)
		}
	}
	return out
}

func bothCases(c byte) []byte {
	if 'a' <= c && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

func (t *shiftTable) find(f *finder, b []byte, pos int) int {
	i := pos + t.shortest - 2
	for i+1 < len(b) {
		pair := binary.LittleEndian.Uint16(b[i:])
		if d := t.shift[pair]; d > 0 {
			i += int(d)
			continue
		}
		start := i + 2 - t.shortest
		for _, s := range t.ends[pair] {
			if f.at(b, start, s) {
				return start
			}
		}
		i++
	}
	return -1
}

package search

import (
	"bytes"
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// States with a meaning of their own. A real state is named by where its row
// begins in the table, which spares a multiplication per byte.
const (
	stateUnknown = 0 // not computed yet
	stateMatch   = 1 // the line matches
	stateDead    = 2 // the rest of the line cannot match
	firstState   = 3
)

const (
	// maxMemory bounds the bytes that the states of one automaton take.
	maxMemory = 4 << 20
	// perState is what a state takes besides its row and instructions.
	perState = 128
	// A cache of states is worth its making when it serves this many bytes of
	// text per state; after so many caches that were not, the automaton gives up.
	worthwhile = 10
	maxWasted  = 3
)

// What stands before the next rune, as far as an assertion can tell.
const (
	afterStart = iota
	afterWord
	afterOther
)

// An automaton says which lines a program matches, and nothing about where. It
// builds its states as the text asks for them, so it costs about a table
// lookup per byte whatever the pattern. It belongs to one goroutine.
type automaton struct {
	p       *program
	stride  int
	table   []uint32 // by state + class
	states  []state  // by state / stride
	index   map[string]uint32
	start   uint32
	used    int // bytes taken by the states
	flushes int
	read    int // bytes of text since the last flush
	wasted  int // flushes that came too early

	stack  []uint32
	marked []uint32 // by instruction: the closure it was last seen in
	mark   uint32
	key    []byte
}

// A state is the set of instructions that wait after the last rune.
type state struct {
	kernel []uint32
	before uint8
	end    uint8 // whether the line may end here: 0 unknown, 1 no, 2 yes
}

func newAutomaton(p *program) *automaton {
	a := &automaton{p: p, stride: len(p.sample), marked: make([]uint32, len(p.inst))}
	a.flush()
	return a
}

// flush forgets every state but the start.
func (a *automaton) flush() {
	a.table = make([]uint32, firstState*a.stride, 64*a.stride)
	a.states = make([]state, firstState, 64)
	a.index = map[string]uint32{}
	a.used, a.read = 0, 0
	a.start = a.state([]uint32{a.p.start}, afterStart)
}

// worn reports that the pattern needs more states than fit.
func (a *automaton) worn() bool { return a.wasted >= maxWasted }

// scan runs over b from pos, the start of a line, and returns a position in
// the first line that matches (its end at most), or -1.
func (a *automaton) scan(b []byte, pos int) int {
	s := a.start
	table, ascii, from := a.table, &a.p.ascii, pos
	for i := pos; i < len(b); {
		// The common case: a state that is known. The rest is slow on purpose.
		for ; i < len(b); i++ {
			next := table[uint(s)+uint(ascii[b[i]])]
			if next < firstState {
				break
			}
			s = next
		}
		if i == len(b) {
			break
		}
		a.read += i - from
		from = i
		next, size := a.step(s, b[i:])
		table = a.table
		switch {
		case next == stateMatch:
			return i
		case size == 0: // end of the line
			nl := bytes.IndexByte(b[i:], '\n')
			s = a.start
			i += nl + 1
			continue
		case next == stateDead:
			nl := bytes.IndexByte(b[i:], '\n')
			if nl < 0 {
				return -1
			}
			s = a.start
			i += nl + 1
			continue
		}
		s = next
		i += size
	}
	if len(b) > pos && b[len(b)-1] != '\n' && a.atEnd(s) {
		return len(b)
	}
	return -1
}

// feed runs over a piece of one long line, b without its end, in state s; it
// stops early at stateMatch and stateDead. A rune cut off at the end of b is
// left over: rest is its length.
func (a *automaton) feed(s uint32, b []byte) (next uint32, rest int) {
	a.read += len(b)
	for len(b) > 0 && s >= firstState {
		if fast := a.table[int(s)+int(a.p.ascii[b[0]])]; fast != stateUnknown {
			s, b = fast, b[1:]
			continue
		}
		if !utf8.FullRune(b) {
			return s, len(b)
		}
		var size int
		s, size = a.step(s, b)
		b = b[size:]
	}
	return s, 0
}

// step takes one rune of b in state s, the slow way. A size of 0 stands for
// the end of the line.
func (a *automaton) step(s uint32, b []byte) (next uint32, size int) {
	if b[0] == '\n' || b[0] == '\r' && len(b) > 1 && b[1] == '\n' {
		if a.atEnd(s) {
			return stateMatch, 0
		}
		return stateDead, 0
	}
	r, size := rune(b[0]), 1
	if r >= utf8.RuneSelf {
		r, size = utf8.DecodeRune(b)
	}
	class := a.p.class(r)
	slot := int(s) + int(class)
	if next = a.table[slot]; next == stateUnknown {
		flushed := a.flushes
		next = a.move(s, class)
		if flushed == a.flushes {
			a.table[slot] = next
		}
	}
	return next, size
}

// move computes the state after s and a rune of the class.
func (a *automaton) move(s uint32, class uint16) uint32 {
	r := a.p.sample[class]
	st := &a.states[int(s)/a.stride]
	reached, matched := a.closure(st, r)
	if matched {
		return stateMatch
	}
	var kernel []uint32
	for _, pc := range reached {
		if in := &a.p.inst[pc]; matchesRune(in, r) {
			kernel = append(kernel, in.Out)
		}
	}
	if !a.p.anchored {
		kernel = append(kernel, a.p.start)
	}
	if len(kernel) == 0 {
		return stateDead
	}
	before := uint8(afterOther)
	if a.p.words && syntax.IsWordChar(r) {
		before = afterWord
	}
	slices.Sort(kernel)
	return a.state(slices.Compact(kernel), before)
}

// state finds or adds the state of a sorted kernel.
func (a *automaton) state(kernel []uint32, before uint8) uint32 {
	a.key = append(a.key[:0], before)
	for _, pc := range kernel {
		a.key = binary.LittleEndian.AppendUint32(a.key, pc)
	}
	if id, ok := a.index[string(a.key)]; ok {
		return id
	}
	size := 4*a.stride + 8*len(kernel) + perState
	if a.used+size > maxMemory && len(a.states) > firstState+1 {
		key := slices.Clone(a.key)
		a.flushes++
		if a.read < worthwhile*len(a.states) {
			a.wasted++
		}
		a.flush()
		a.key = key
		if id, ok := a.index[string(a.key)]; ok {
			return id
		}
	}
	a.used += size
	id := uint32(len(a.table))
	a.states = append(a.states, state{kernel: slices.Clone(kernel), before: before})
	a.table = append(a.table, make([]uint32, a.stride)...)
	a.index[string(a.key)] = id
	return id
}

// atEnd reports whether a line that ends in state s matches.
func (a *automaton) atEnd(s uint32) bool {
	st := &a.states[int(s)/a.stride]
	if st.end == 0 {
		st.end = 1
		if _, matched := a.closure(st, -1); matched {
			st.end = 2
		}
	}
	return st.end == 2
}

// closure follows everything that takes no rune, knowing what stands before
// and that next follows (-1: the end). It returns the instructions reached.
func (a *automaton) closure(st *state, next rune) (reached []uint32, matched bool) {
	before := rune('.')
	switch st.before {
	case afterStart:
		before = -1
	case afterWord:
		before = 'a'
	}
	holds := syntax.EmptyOpContext(before, next)
	a.mark++
	a.stack = append(a.stack[:0], st.kernel...)
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.marked[pc] == a.mark {
			continue
		}
		a.marked[pc] = a.mark
		switch in := &a.p.inst[pc]; in.Op {
		case syntax.InstMatch:
			return nil, true
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, in.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&^holds == 0 {
				a.stack = append(a.stack, in.Out)
			}
		default:
			if isRune(in.Op) {
				reached = append(reached, pc)
			}
		}
	}
	return reached, false
}

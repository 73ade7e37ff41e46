package search

import (
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxProgram is the number of instructions up to which a program is run as an
// automaton, maxClasses that of classes of runes.
const (
	maxProgram = 4000
	maxClasses = 4096
)

// A program is a compiled expression with the runes sorted into classes: two
// runes of one class are the same to every instruction. It is read-only.
type program struct {
	inst     []syntax.Inst
	start    uint32
	anchored bool // can only match from the start of a line
	words    bool // has \b or \B

	bounds  []rune // first rune of each interval, ascending
	classOf []uint16
	sample  []rune      // one rune per class
	ascii   [256]uint16 // class per byte; special for bytes that need a look
}

// special is the class of bytes whose transition is never in the table: line
// ends and parts of longer runes.
const special = 0

// newProgram prepares re; nil when it is too large for an automaton.
func newProgram(re *syntax.Regexp) *program {
	prog, err := syntax.Compile(re.Simplify())
	if err != nil || len(prog.Inst) > maxProgram {
		return nil
	}
	p := &program{inst: prog.Inst, start: uint32(prog.Start)}
	p.anchored = prog.StartCond()&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0
	for _, in := range prog.Inst {
		if in.Op == syntax.InstEmptyWidth {
			p.words = p.words || syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0
		}
	}
	tests := p.runeTests()
	p.cutRunes(tests)
	p.mergeClasses(tests)
	if len(p.sample) > maxClasses {
		return nil
	}
	for b := range utf8.RuneSelf {
		p.ascii[b] = p.class(rune(b))
	}
	p.ascii['\n'], p.ascii['\r'] = special, special
	return p
}

// cutRunes cuts the runes into intervals at every place where an instruction
// may begin or cease to match.
func (p *program) cutRunes(tests []*syntax.Inst) {
	cuts := []rune{0}
	between := func(lo, hi rune) { cuts = append(cuts, lo, hi+1) }
	between('\n', '\n')
	if p.words {
		between('0', '9')
		between('A', 'Z')
		between('_', '_')
		between('a', 'z')
	}
	for _, in := range tests {
		switch in.Op {
		case syntax.InstRune, syntax.InstRune1:
			if len(in.Rune) == 1 {
				first := in.Rune[0]
				between(first, first)
				if syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
					for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
						between(r, r)
					}
				}
				continue
			}
			for i := 0; i+1 < len(in.Rune); i += 2 {
				between(in.Rune[i], in.Rune[i+1])
			}
		}
	}
	slices.Sort(cuts)
	p.bounds = slices.Compact(cuts)
}

// mergeClasses gives one class to all intervals that no instruction tells
// apart. Class 0 stays free for special.
func (p *program) mergeClasses(tests []*syntax.Inst) {
	p.sample = []rune{'\n'}
	p.classOf = make([]uint16, len(p.bounds))
	known := map[string]uint16{}
	key := make([]byte, len(tests)+1)
	for i, r := range p.bounds {
		key[len(tests)] = bit(p.words && syntax.IsWordChar(r))
		for k, in := range tests {
			key[k] = bit(matchesRune(in, r))
		}
		class, ok := known[string(key)]
		if !ok {
			class = uint16(len(p.sample))
			known[string(key)] = class
			p.sample = append(p.sample, r)
		}
		p.classOf[i] = class
	}
}

// runeTests are the instructions that look at a rune, each kind once.
func (p *program) runeTests() []*syntax.Inst {
	var tests []*syntax.Inst
	type test struct {
		op    syntax.InstOp
		arg   uint32
		runes string
	}
	seen := map[test]bool{}
	for i := range p.inst {
		in := &p.inst[i]
		if !isRune(in.Op) {
			continue
		}
		key := test{in.Op, in.Arg, string(in.Rune)}
		if !seen[key] {
			seen[key] = true
			tests = append(tests, in)
		}
	}
	return tests
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (p *program) class(r rune) uint16 {
	i, found := slices.BinarySearch(p.bounds, r)
	if !found {
		i--
	}
	return p.classOf[i]
}

func isRune(op syntax.InstOp) bool {
	switch op {
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		return true
	}
	return false
}

func matchesRune(in *syntax.Inst, r rune) bool {
	switch in.Op {
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return in.MatchRune(r)
}

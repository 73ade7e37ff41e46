package textedit

import "context"

// maxSpelling bounds the comparisons of the indentations of one search, in lines
// looked at. Only an old text that fits many places that overlap comes near it.
const maxSpelling = 1 << 24

// spelling judges whether the indentation of the lines of an old text maps one
// to one onto that of lines of a file which are alike otherwise.
type spelling struct {
	want  []int32  // the class of each line's indentation, noIndent for blank lines
	class []string // the indentations of want
	above []int    // of each class the longest other one that it begins with, or -1

	have  []int32  // the same for the file
	names []string // the indentations of the file

	// With one class, a place fits when the indentation does not change in it:
	// until is the line where that of each line does, first the first line of want
	// that is not blank.
	until []int32
	first int

	image []int32 // what each class stands for, in the place that is judged
	left  int
}

// noIndent is the class of a blank line: its indentation means nothing.
const noIndent = -1

func newSpelling(ctx context.Context, have lines, want []string) *spelling {
	s := &spelling{left: maxSpelling}
	s.want, s.class = classes(ctx, len(want), func(i int) string { return want[i] })
	s.have, s.names = classes(ctx, have.len(), have.line)
	s.above = prefixes(s.class)
	s.image = make([]int32, len(s.class))
	for s.want[s.first] == noIndent {
		s.first++
	}
	if len(s.class) == 1 {
		s.until = changes(s.have)
	}
	return s
}

// classes numbers the indentations of lines, equal ones the same.
func classes(ctx context.Context, n int, line func(int) string) (of []int32, names []string) {
	known := map[string]int32{}
	of = make([]int32, n)
	for i := range of {
		if i%stride == 0 && ctx.Err() != nil {
			break
		}
		indent, rest := cutIndent(trimEnd(line(i)))
		if rest == "" {
			of[i] = noIndent
			continue
		}
		c, ok := known[indent]
		if !ok {
			c = int32(len(names))
			known[indent], names = c, append(names, indent)
		}
		of[i] = c
	}
	return of, names
}

// changes holds for each line the first one below it that has another class,
// blank ones apart.
func changes(of []int32) []int32 {
	until := make([]int32, len(of))
	change, below, class := int32(len(of)), int32(len(of)), int32(noIndent)
	for i := len(of) - 1; i >= 0; i-- {
		switch {
		case of[i] == noIndent:
		case of[i] != class:
			change, class = below, of[i]
			fallthrough
		default:
			below = int32(i)
		}
		until[i] = change
	}
	return until
}

// spent reports that the bound was met: what was judged last may be wrong.
func (s *spelling) spent() bool { return s.left <= 0 }

// fits judges the place that begins at a line.
func (s *spelling) fits(at int) bool {
	if s.until != nil {
		return int(s.until[at+s.first]) >= at+len(s.want)
	}
	if s.spent() {
		return false
	}
	for c := range s.image {
		s.image[c] = noIndent
	}
	s.left -= len(s.image)
	for i, c := range s.want {
		if c == noIndent {
			continue
		}
		switch to := s.have[at+i]; s.image[c] {
		case noIndent:
			s.image[c] = to
		case to:
		default:
			s.left -= i
			return false
		}
	}
	s.left -= len(s.want)
	return s.nested()
}

// nested reports whether deeper stays deeper in the place that was looked at:
// otherwise the lines agree but the block structure does not.
func (s *spelling) nested() bool {
	const perStep = 16 // bytes compared in the time of a step
	for c, above := range s.above {
		if above < 0 {
			continue
		}
		from, to := s.names[s.image[above]], s.names[s.image[c]]
		s.left -= len(from) / perStep
		if !deeper(from, to) {
			return false
		}
	}
	return true
}

// indents is the indentation of a place that fits.
func (s *spelling) indents(at int) indents {
	in := make(indents, len(s.class))
	for i, c := range s.want {
		if c != noIndent {
			in[s.class[c]] = s.names[s.have[at+i]]
		}
	}
	return in
}

package textedit

import (
	"context"
	"iter"
	"slices"
	"strings"
)

const blanks = " \t"

// loose finds old as whole lines, forgiving first blanks at the end of lines,
// then indentation too. A text of blanks alone is never forgiven anything. count
// is how many places there are; when looking had to be cut short it is how many
// were found, or, where that could mean a wrong edit, none. After the end of ctx the
// result is worth nothing.
func loose(ctx context.Context, text, old string, all bool) (found matches, count int) {
	found = matches{places: func(func(place) bool) {}, fuzzy: true}
	if strings.TrimSpace(old) == "" {
		return found, 0
	}
	body, ended := strings.CutSuffix(old, "\n")
	l := loosely{have: splitLines(ctx, text), want: strings.Split(body, "\n"), ended: ended}
	if starts, n := l.sameIndent(ctx, all); n > 0 {
		found.places = l.places(starts)
		return found, n
	}
	starts, n, spell := l.otherIndent(ctx, all)
	if n > 0 {
		found.places = l.places(slices.Values(starts))
		found.indents = func(p place) indents { return spell.indents(p.line) }
	}
	return found, n
}

// loosely is one search line by line.
type loosely struct {
	have  lines
	want  []string
	ended bool // a line feed ends want
}

// sameIndent are the first lines of the places that are alike but for blanks at
// the end of lines.
func (l *loosely) sameIndent(ctx context.Context, all bool) (starts iter.Seq[int], count int) {
	have, want := l.number(ctx, trimEnd)
	starts = Occurrences(ctx, have, want, !all)
	for range starts {
		if count++; all || count%stride == 0 && ctx.Err() != nil {
			break
		}
	}
	return starts, count
}

// otherIndent are the first lines of the places that are alike but for the
// indentation, the first one alone without all.
func (l *loosely) otherIndent(ctx context.Context, all bool) (starts []int, count int, s *spelling) {
	have, want := l.number(ctx, Bare)
	next := 0
	for at := range Occurrences(ctx, have, want, true) {
		if s == nil { // most texts are alike nowhere
			s = newSpelling(ctx, l.have, l.want)
		}
		if ctx.Err() != nil {
			break
		}
		if at < next || !s.fits(at) {
			continue
		}
		count++
		if all {
			next = at + len(want)
		}
		if all || count == 1 {
			starts = append(starts, at)
		}
	}
	if s != nil && s.spent() && (all || count < 2) {
		return nil, 0, s
	}
	return starts, count, s
}

// number turns lines into numbers that are equal where the lines are, but for
// what fold takes off. Lines that want does not have are all -1.
func (l *loosely) number(ctx context.Context, fold func(string) string) (have, want []int32) {
	numbers := make(map[string]int32, len(l.want))
	want = make([]int32, len(l.want))
	for i, line := range l.want {
		line = fold(line)
		n, known := numbers[line]
		if !known {
			n = int32(len(numbers))
			numbers[line] = n
		}
		want[i] = n
	}
	have = make([]int32, l.have.len())
	for i := range have {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, want
		}
		n, known := numbers[fold(l.have.line(i))]
		if !known {
			n = -1
		}
		have[i] = n
	}
	return have, want
}

// places are what begins at some lines.
func (l *loosely) places(starts iter.Seq[int]) iter.Seq[place] {
	return func(yield func(place) bool) {
		for at := range starts {
			last := at + len(l.want) - 1
			p := place{start: l.have.starts[at], end: l.have.end(last), line: at}
			switch {
			case l.ended && l.have.ended(last):
				p.end++
			case l.ended:
				p.noEnd = true
			}
			if !yield(p) {
				return
			}
		}
	}
}

// lines is a text by lines. A line is without its line feed.
type lines struct {
	text   string
	starts []int
}

// splitLines splits a text. After the end of ctx, lines are missing.
func splitLines(ctx context.Context, text string) lines {
	l := lines{text, make([]int, 0, strings.Count(text, "\n")+1)}
	for at := 0; at < len(text); {
		if len(l.starts)%stride == 0 && ctx.Err() != nil {
			break
		}
		l.starts = append(l.starts, at)
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return l
}

func (l lines) len() int { return len(l.starts) }

func (l lines) line(i int) string { return l.text[l.starts[i]:l.end(i)] }

// ended reports whether a line feed ends the line.
func (l lines) ended(i int) bool { return i+1 < len(l.starts) || strings.HasSuffix(l.text, "\n") }

// end is where the line ends, before its line feed.
func (l lines) end(i int) int {
	end := len(l.text)
	if i+1 < len(l.starts) {
		end = l.starts[i+1]
	}
	if l.ended(i) {
		end--
	}
	return end
}

func trimEnd(line string) string { return strings.TrimRight(line, blanks) }

func cutIndent(s string) (indent, rest string) {
	rest = strings.TrimLeft(s, blanks)
	return s[:len(s)-len(rest)], rest
}

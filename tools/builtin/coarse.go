package builtin

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The pieces of a coarse expression.
const (
	anyWide  = `[\x80-\xFF]{1,4}` // a character beyond ASCII, or a byte that is not UTF-8
	anything = `(?:)`
)

// coarse writes an RE2 expression as one for ripgrep, which uses another
// dialect, that matches at least every line which the expression matches: it
// works on bytes, all characters beyond ASCII of a class are as one, the end of
// a line may have a CR before it, and anchors count only at the ends of the
// expression, for there are versions of ripgrep that find no empty line with
// "$^". What is left stays exact. Letters, digits and hexadecimal escapes are
// all that it writes of the pattern's own text.
func coarse(pattern string, literal, caseSensitive bool) (string, error) {
	flags := syntax.Perl
	if literal {
		flags |= syntax.Literal
	}
	if !caseSensitive {
		flags |= syntax.FoldCase
	}
	parsed, err := syntax.Parse(pattern, flags)
	if err != nil {
		return "", err
	}
	var w coarseWriter
	w.WriteString("(?-u)")
	w.expr(parsed, true, true)
	return w.String(), nil
}

type coarseWriter struct{ strings.Builder }

// expr writes an expression; first and last say that it stands at the start
// and at the end of the whole.
func (w *coarseWriter) expr(re *syntax.Regexp, first, last bool) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			w.literal(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		w.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.class([]rune{0, unicode.MaxRune})
	case syntax.OpBeginLine, syntax.OpBeginText:
		w.anchor(`(?m:^)`, first)
	case syntax.OpEndLine, syntax.OpEndText:
		w.anchor(`(?m:\r?$)`, last)
	case syntax.OpWordBoundary:
		w.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		w.WriteString(`\B`)
	case syntax.OpConcat, syntax.OpCapture:
		w.WriteString("(?:")
		for i, sub := range re.Sub {
			w.expr(sub, first && i == 0, last && i == len(re.Sub)-1)
		}
		w.WriteByte(')')
	case syntax.OpAlternate:
		between := "(?:"
		for _, sub := range re.Sub {
			w.WriteString(between)
			w.expr(sub, first, last)
			between = "|"
		}
		w.WriteByte(')')
	case syntax.OpStar:
		w.repeat(re.Sub[0], "*")
	case syntax.OpPlus:
		w.repeat(re.Sub[0], "+")
	case syntax.OpQuest:
		w.repeat(re.Sub[0], "?")
	case syntax.OpRepeat:
		w.repeat(re.Sub[0], bounds(re.Min, re.Max))
	default: // the empty match, and what never matches
		w.WriteString(anything)
	}
}

func (w *coarseWriter) anchor(anchor string, counts bool) {
	if !counts {
		anchor = anything
	}
	w.WriteString(anchor)
}

func (w *coarseWriter) repeat(sub *syntax.Regexp, times string) {
	w.WriteString("(?:")
	w.expr(sub, false, false)
	w.WriteString(")" + times)
}

func bounds(least, most int) string {
	if most < 0 {
		return fmt.Sprintf("{%d,}", least)
	}
	return fmt.Sprintf("{%d,%d}", least, most)
}

// literal writes one character and, folded, the characters that equal it.
func (w *coarseWriter) literal(r rune, fold bool) {
	switch {
	case r == '\n': // no line has it
		w.WriteString(anything)
		return
	case !fold || unicode.SimpleFold(r) == r:
		w.character(r)
		return
	}
	w.WriteString("(?:")
	w.character(r)
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		w.WriteByte('|')
		w.character(other)
	}
	w.WriteByte(')')
}

func (w *coarseWriter) character(r rune) {
	if r == utf8.RuneError || !utf8.ValidRune(r) {
		w.WriteString(anyWide)
		return
	}
	for _, c := range []byte(string(r)) {
		w.octet(c)
	}
}

// class writes the ASCII part of ranges as it is.
func (w *coarseWriter) class(ranges []rune) {
	var ascii coarseWriter
	wide := false
	for i := 0; i < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		wide = wide || high >= utf8.RuneSelf
		ascii.span(low, min(high, '\n'-1))
		ascii.span(max(low, '\n'+1), min(high, unicode.MaxASCII))
	}
	switch {
	case ascii.Len() > 0 && wide:
		w.WriteString("(?:[" + ascii.String() + "]|" + anyWide + ")")
	case ascii.Len() > 0:
		w.WriteString("[" + ascii.String() + "]")
	case wide:
		w.WriteString("(?:" + anyWide + ")")
	default:
		w.WriteString(anything)
	}
}

// span writes a range of a class, which may be empty.
func (w *coarseWriter) span(low, high rune) {
	if low > high {
		return
	}
	w.octet(byte(low))
	if low < high {
		w.WriteByte('-')
		w.octet(byte(high))
	}
}

func (w *coarseWriter) octet(c byte) {
	if c < utf8.RuneSelf && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) {
		w.WriteByte(c)
		return
	}
	fmt.Fprintf(w, `\x%02X`, c)
}

package textedit

import "strings"

// Respelling is how lines of an old text were found with whitespace forgiven:
// the indentation that it used, and that of the file in its place. The zero
// value changes nothing.
type Respelling struct {
	indents indents
}

// maxForgiven bounds the lines that one Forgiver compares.
const maxForgiven = 1 << 22

// Forgiver is for callers that search one text for many others: it bounds the
// lines that all calls together compare, so that a text which repeats itself
// costs no more than others. The zero value has compared none. It is not safe for
// concurrent use.
type Forgiver struct {
	compared int
}

// Spent reports that the bound is met: from then on nothing is found, and nothing
// found before is known to be the only place.
func (f *Forgiver) Spent() bool { return f.compared > maxForgiven }

// Forgive compares lines without line ends by the rules of [Apply] (R38): blanks
// at the end of lines never count; the indentation must be the same with
// keepIndent, and map one to one onto that of have without. Bare tells which
// lines can be alike.
func (f *Forgiver) Forgive(have, want []string, keepIndent bool) (Respelling, bool) {
	if f.Spent() || len(have) != len(want) {
		return Respelling{}, false
	}
	var in indents // most runs differ in their first line, so it is made late
	for i, w := range want {
		f.compared++
		h, w := trimEnd(have[i]), trimEnd(w)
		if keepIndent {
			if h != w {
				return Respelling{}, false
			}
			continue
		}
		hIndent, hRest := cutIndent(h)
		wIndent, wRest := cutIndent(w)
		if hRest != wRest {
			return Respelling{}, false
		}
		if in == nil {
			in = indents{}
		}
		if hRest != "" && !in.add(wIndent, hIndent) {
			return Respelling{}, false
		}
	}
	return Respelling{in}, in.nested()
}

// Apply gives a line of the new text the indentation of the file.
func (r Respelling) Apply(line string) string { return r.indents.apply(line) }

// Bare is a line without the whitespace that Forgive may forgive: only lines
// that are equal so are ever alike.
func Bare(line string) string { return strings.Trim(line, blanks) }

package textedit

import "strings"

// Respelling is how lines of an old text were found with whitespace forgiven:
// the indentation that it used, and that of the file in its place. The zero
// value changes nothing.
type Respelling struct {
	indents indents
}

// Forgive compares lines without line ends by the rules of [Match] (R38): blanks
// at the end of lines never count; the indentation must be the same with
// keepIndent, and map one to one onto that of have without. It is for callers
// that search one text for many others; Bare tells which lines can be alike. It
// looks at each line once: how often it is called is for the caller to bound.
func Forgive(have, want []string, keepIndent bool) (Respelling, bool) {
	if len(have) != len(want) {
		return Respelling{}, false
	}
	in, ok := compare(have, want, keepIndent)
	return Respelling{in}, ok
}

// compare judges lines one by one. What the indents were is returned, so that
// the new text can be given those of the file.
func compare(have, want []string, keepIndent bool) (indents, bool) {
	var in indents // most runs differ in their first line, so it is made late
	for i, w := range want {
		h, w := trimEnd(have[i]), trimEnd(w)
		if keepIndent {
			if h != w {
				return nil, false
			}
			continue
		}
		hIndent, hRest := cutIndent(h)
		wIndent, wRest := cutIndent(w)
		if hRest != wRest {
			return nil, false
		}
		if in == nil {
			in = indents{}
		}
		if hRest != "" && !in.add(wIndent, hIndent) {
			return nil, false
		}
	}
	return in, in.nested()
}

// Apply gives a line of the new text the indentation of the file.
func (r Respelling) Apply(line string) string { return r.indents.apply(line) }

// Bare is a line without the whitespace that Forgive may forgive: only lines
// that are equal so are ever alike.
func Bare(line string) string { return strings.Trim(line, blanks) }

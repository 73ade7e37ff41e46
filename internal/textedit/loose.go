package textedit

import (
	"maps"
	"strings"
)

const blanks = " \t"

// loose finds old as whole lines, forgiving first blanks at the end of lines,
// then indentation too. A text of blanks alone is never forgiven anything.
func loose(text, old string, all bool) []place {
	if strings.TrimSpace(old) == "" {
		return nil
	}
	body, ended := strings.CutSuffix(old, "\n")
	want := strings.Split(body, "\n")
	have := splitLines(text)
	texts := make([]string, len(have))
	for i, l := range have {
		texts[i] = l.text
	}
	for _, keepIndent := range []bool{true, false} {
		if found := alike(have, texts, want, ended, keepIndent, all); len(found) > 0 {
			return found
		}
	}
	return nil
}

// A line is one line of a text, without its line feed.
type line struct {
	start, end int
	text       string
	ended      bool
}

func splitLines(text string) []line {
	var lines []line
	for at := 0; at < len(text); {
		end, next, ended := len(text), len(text), false
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			end, next, ended = at+i, at+i+1, true
		}
		lines = append(lines, line{at, end, text[at:end], ended})
		at = next
	}
	return lines
}

// alike finds the runs of lines that equal want but for forgiven whitespace.
func alike(have []line, texts, want []string, ended, keepIndent, all bool) (found []place) {
	for i := 0; i+len(want) <= len(have); i++ {
		in, ok := compare(texts[i:i+len(want)], want, keepIndent)
		if !ok {
			continue
		}
		last := have[i+len(want)-1]
		p := place{start: have[i].start, end: last.end, indents: in}
		switch {
		case ended && last.ended:
			p.end++
		case ended:
			p.noEnd = true
		}
		found = append(found, p)
		if all {
			i += len(want) - 1
		}
	}
	return found
}

// compare judges lines one by one. What the indents were is returned, so that
// the new text can be given those of the file.
func compare(have, want []string, keepIndent bool) (indents, bool) {
	var in indents // most runs differ in their first line, so it is made late
	for i, w := range want {
		h := strings.TrimRight(have[i], blanks)
		w = strings.TrimRight(w, blanks)
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

func cutIndent(s string) (indent, rest string) {
	rest = strings.TrimLeft(s, blanks)
	return s[:len(s)-len(rest)], rest
}

// indents maps the indentation an old text used to that of the file.
type indents map[string]string

// add notes a pair; false when it contradicts an earlier one.
func (in indents) add(from, to string) bool {
	if known, ok := in[from]; ok {
		return known == to
	}
	in[from] = to
	return true
}

// nested reports whether deeper stays deeper: otherwise the lines agree but
// the block structure does not.
func (in indents) nested() bool {
	for a := range maps.Keys(in) {
		for b := range maps.Keys(in) {
			if a != b && strings.HasPrefix(b, a) && (in[a] == in[b] || !strings.HasPrefix(in[b], in[a])) {
				return false
			}
		}
	}
	return true
}

// apply gives a new text the indentation of the file, line by line: by the
// pair known for it, else by the longest known beginning of it.
func (in indents) apply(text string) string {
	if len(in) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		indent, rest := cutIndent(l)
		if rest == "" {
			continue
		}
		for n := len(indent); n >= 0; n-- {
			if to, ok := in[indent[:n]]; ok {
				lines[i] = to + indent[n:] + rest
				break
			}
		}
	}
	return strings.Join(lines, "\n")
}

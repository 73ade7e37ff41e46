package textedit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

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
	from := slices.Collect(maps.Keys(in))
	for i, above := range prefixes(from) {
		if above >= 0 && !deeper(in[from[above]], in[from[i]]) {
			return false
		}
	}
	return true
}

// deeper reports that b begins with a and goes on.
func deeper(a, b string) bool { return len(a) < len(b) && strings.HasPrefix(b, a) }

// prefixes finds for each of some different texts the longest other one that it
// begins with, -1 when there is none.
func prefixes(texts []string) []int {
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(texts[a], texts[b]) })
	above := make([]int, len(texts))
	var open []int // each begins with the one before it
	for _, i := range order {
		for len(open) > 0 && !strings.HasPrefix(texts[i], texts[open[len(open)-1]]) {
			open = open[:len(open)-1]
		}
		above[i] = -1
		if len(open) > 0 {
			above[i] = open[len(open)-1]
		}
		open = append(open, i)
	}
	return above
}

// apply gives a new text the indentation of the file, line by line: by the
// pair known for it, else by the longest known beginning of it.
func (in indents) apply(text string) string {
	if len(in) == 0 {
		return text
	}
	lengths := in.lengths()
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		indent, rest := cutIndent(l)
		if rest == "" {
			continue
		}
		for _, n := range lengths {
			if n > len(indent) {
				continue
			}
			if to, ok := in[indent[:n]]; ok {
				lines[i] = to + indent[n:] + rest
				break
			}
		}
	}
	return strings.Join(lines, "\n")
}

// lengths are those of the old text's indentations, the longest first.
func (in indents) lengths() []int {
	known := make([]int, 0, len(in))
	for from := range in {
		known = append(known, len(from))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	slices.Reverse(known)
	return known
}

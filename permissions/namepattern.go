package permissions

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// namePattern matches successive components of a path: one name, or several with
// slashes between them. In each, `*`, `?` and `[...]` stand for what they stand for in
// path.Match. Components are folded before they are compared, as for denies (P4).
type namePattern []namePart

// namePart is the pattern of one component. Most are a text, or a text with one `*`.
type namePart struct {
	prefix, suffix string
	star           bool
	glob           string // what is neither
}

func (p namePart) match(name string) bool {
	switch {
	case p.glob != "":
		ok, err := path.Match(p.glob, name)
		return err == nil && ok
	case p.star:
		return len(name) >= len(p.prefix)+len(p.suffix) && strings.HasPrefix(name, p.prefix) && strings.HasSuffix(name, p.suffix)
	}
	return name == p.prefix
}

// errNamePattern says what a pattern of names has to be.
var errNamePattern = errors.New("expects a name such as *.vault, or several with slashes between, below any directory; ** and . are not understood")

// parseNamePattern reads a pattern. One without any literal text would match each name.
func parseNamePattern(text string) (namePattern, error) {
	var pattern namePattern
	for _, part := range strings.Split(foldText(text), "/") {
		if _, err := path.Match(part, ""); err != nil || part == "." || part == ".." || strings.Contains(part, "**") || strings.Trim(part, "*?") == "" {
			return nil, errNamePattern
		}
		switch before, after, star := strings.Cut(part, "*"); {
		case strings.ContainsAny(before+after, `*?[\`):
			pattern = append(pattern, namePart{glob: part})
		default:
			pattern = append(pattern, namePart{prefix: before, suffix: after, star: star})
		}
	}
	return pattern, nil
}

// CheckNamePattern reports whether a text is a pattern of names, see [NewSecrets].
func CheckNamePattern(text string) error {
	_, err := parseNamePattern(text)
	return err
}

// endsAt reports whether the pattern matches the components that end with the i-th.
func (p namePattern) endsAt(parts []string, i int) bool {
	from := i + 1 - len(p)
	if from < 0 {
		return false
	}
	for k, part := range p {
		if !part.match(parts[from+k]) {
			return false
		}
	}
	return true
}

// nameTable finds which group of patterns a component of a path belongs to. The
// patterns that end in a plain name are looked up by it.
type nameTable struct {
	named map[string][]groupedPattern
	rest  []groupedPattern
}

type groupedPattern struct {
	namePattern
	group int
}

// add adds patterns that are known to be well formed.
func (t *nameTable) add(group int, patterns []string) {
	if t.named == nil {
		t.named = map[string][]groupedPattern{}
	}
	for _, text := range patterns {
		pattern, err := parseNamePattern(text)
		if err != nil {
			continue // the shipped ones are checked by a test, those of a file when it is read
		}
		last, entry := pattern[len(pattern)-1], groupedPattern{pattern, group}
		if last.star || last.glob != "" {
			t.rest = append(t.rest, entry)
			continue
		}
		t.named[last.prefix] = append(t.named[last.prefix], entry)
	}
}

// find returns the least group that a component of a path belongs to; -1 for none.
func (t *nameTable) find(parts []string) int {
	found := -1
	for i := range parts {
		if g := t.at(parts, i); g >= 0 && (found < 0 || g < found) {
			found = g
		}
	}
	return found
}

// at returns the least group of the i-th component.
func (t *nameTable) at(parts []string, i int) int {
	found := -1
	for _, list := range [][]groupedPattern{t.named[parts[i]], t.rest} {
		for _, p := range list {
			if (found < 0 || p.group < found) && p.endsAt(parts, i) {
				found = p.group
			}
		}
	}
	return found
}

// matchesAny reports whether a name matches one of the patterns.
func matchesAny(name string, patterns []namePattern) bool {
	return slices.ContainsFunc(patterns, func(p namePattern) bool { return p.endsAt([]string{name}, 0) })
}

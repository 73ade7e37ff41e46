package search

import (
	"errors"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// errOutside refuses a pattern that leads out of the directory searched.
var errOutside = errors.New("the pattern must stay below the directory")

// A filePattern is a glob taken apart for a walk.
type filePattern struct {
	globs    []string // without braces: a match of one is a match
	anyDepth bool     // matches the base name alone
	head     []string // leading elements without wildcards: the only way down
	depth    int      // elements a match has at most
	hidden   bool     // names an element that starts with a dot
	suffix   string   // for "**/*suffix", which needs no matcher
}

// newFilePattern reads a pattern relative to base, or absolute below it.
func newFilePattern(base, pattern string) (*filePattern, error) {
	glob := pattern
	if rest, ok := cutBase(base, pattern); ok {
		glob = rest
	}
	for strings.HasPrefix(glob, "./") {
		glob = strings.TrimLeft(glob[2:], "/")
	}
	globs, tooLarge := alternatives(glob)
	switch {
	case len(pattern) > maxGlobBytes:
		return nil, &PatternError{Pattern: pattern[:80] + "…", Err: errLongGlob}
	case path.IsAbs(glob) || filepath.IsAbs(pattern) && glob == pattern,
		glob == "..", strings.HasPrefix(glob, "../"), strings.Contains(glob, "/../"):
		return nil, &PatternError{Pattern: pattern, Err: errOutside}
	case tooLarge != nil:
		return nil, &PatternError{Pattern: pattern, Err: tooLarge}
	case !utf8.ValidString(glob), !doublestar.ValidatePattern(glob):
		return nil, &PatternError{Pattern: pattern, Err: doublestar.ErrBadPattern}
	}
	p := &filePattern{globs: globs, depth: depthOf(glob), hidden: namesHidden(glob)}
	elements := strings.Split(glob, "/")
	for _, e := range elements[:len(elements)-1] {
		if strings.ContainsAny(e, `*?[{\`) {
			break
		}
		p.head = append(p.head, e)
	}
	if rest, ok := strings.CutPrefix(glob, "**/*"); ok && !strings.ContainsAny(rest, `*?[{\/`) {
		p.suffix = rest
	}
	return p, nil
}

// cutBase makes an absolute pattern relative.
func cutBase(base, pattern string) (string, bool) {
	slashed := filepath.ToSlash(base)
	if !strings.HasSuffix(slashed, "/") {
		slashed += "/"
	}
	if rest, ok := strings.CutPrefix(pattern, slashed); ok {
		return rest, true
	}
	if filepath.Separator == '/' {
		return "", false
	}
	return strings.CutPrefix(filepath.ToSlash(pattern), slashed)
}

// match judges a file in the directory dir (with a trailing slash unless empty).
func (p *filePattern) match(dir, name string) bool {
	switch {
	case p.suffix != "":
		return strings.HasSuffix(name, p.suffix)
	case p.anyDepth:
		return p.matches(name)
	}
	return p.matches(dir + name)
}

func (p *filePattern) matches(path string) bool {
	return slices.ContainsFunc(p.globs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, path) })
}

// descend judges a directory at a depth (0: an entry of the base).
func (p *filePattern) descend(name string, depth int) bool {
	if depth < len(p.head) && !p.anyDepth {
		return p.head[depth] == name
	}
	return p.anyDepth || depth+1 < p.depth
}

// depthOf is how many elements a match can have.
func depthOf(glob string) int {
	open := 0
	for i := range len(glob) {
		switch {
		case glob[i] == '{':
			open++
		case glob[i] == '}':
			open--
		case glob[i] == '/' && open > 0: // alternatives of different depth
			return math.MaxInt
		}
	}
	// Stars that meet across a brace are two stars: "{*}*" is "**".
	for _, meet := range []string{"**", "}*", "*{", "}{"} {
		if strings.Contains(glob, meet) {
			return math.MaxInt
		}
	}
	return strings.Count(glob, "/") + 1
}

// namesHidden reports whether an element, or an alternative that begins one,
// starts with a dot.
func namesHidden(glob string) bool {
	var begins []bool // per open brace: whether it began an element
	start := true
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '.' && start, strings.HasPrefix(glob[i:], "[.]") && start:
			return true
		case c == '/':
			start = true
		case c == '{':
			begins = append(begins, start)
		case c == ',' && len(begins) > 0:
			start = begins[len(begins)-1]
		case c == '}' && len(begins) > 0:
			begins, start = begins[:len(begins)-1], false
		case c == '\\':
			start = start && strings.HasPrefix(glob[i:], `\.`)
		default:
			start = false
		}
	}
	return false
}

package command

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// glob lists the names that a pattern matches, in the order of their bytes. A word without
// a pattern, or one that matches nothing, is itself.
func (e *expander) glob(chars []char, at dirs) ([]string, bool) {
	if !globs(chars) {
		return []string{text(chars)}, true
	}
	if len(at.list) != 1 || at.unknown {
		return nil, false
	}
	segments, absolute := segmentsOf(chars)
	prefix := ""
	if absolute {
		prefix = "/"
	}
	matches, ok := e.match(prefix, segments, at)
	if !ok {
		return nil, false
	}
	if len(matches) == 0 {
		return []string{text(chars)}, true
	}
	slices.Sort(matches)
	return matches, true
}

func globs(chars []char) bool {
	return slices.ContainsFunc(chars, func(c char) bool { return !c.inert && strings.IndexByte("*?[", c.b) >= 0 })
}

// segmentsOf splits a pattern at its slashes.
func segmentsOf(chars []char) (segments [][]char, absolute bool) {
	start := 0
	for i, c := range chars {
		if c.b == '/' {
			segments = append(segments, chars[start:i])
			start = i + 1
		}
	}
	segments = append(segments, chars[start:])
	if absolute = len(segments[0]) == 0; absolute {
		segments = segments[1:]
	}
	return segments, absolute
}

// match lists the names beneath prefix that the segments match. It fails where it cannot
// know: at a directory outside the roots, one that is too large, a pattern that is not
// plain.
func (e *expander) match(prefix string, segments [][]char, at dirs) (out []string, ok bool) {
	segment, rest := segments[0], segments[1:]
	if len(segment) == 0 && len(rest) > 0 {
		return nil, false // two slashes
	}
	if len(segment) == 0 {
		_, there, known := e.names(prefix, at)
		if !there {
			return nil, known
		}
		return []string{prefix}, known
	}
	names, ok := e.matchSegment(prefix, segment, len(rest) == 0, at)
	if !ok {
		return nil, false
	}
	if len(rest) == 0 {
		for _, name := range names {
			out = append(out, prefix+name)
		}
		return out, len(out) <= maxFields
	}
	for _, name := range names {
		below, ok := e.match(prefix+name+"/", rest, at)
		if out = append(out, below...); !ok || len(out) > maxFields {
			return nil, false
		}
	}
	return out, true
}

// matchSegment lists the names beneath prefix that one segment matches. A name without a pattern is
// looked up only when it is the last one: the directories before it are listed in any case.
func (e *expander) matchSegment(prefix string, segment []char, last bool, at dirs) (names []string, ok bool) {
	if !globs(segment) {
		name := text(segment)
		if !last || name == "." || name == ".." {
			return []string{name}, true
		}
		listed, _, known := e.names(prefix, at)
		if !slices.Contains(listed, name) {
			return nil, known
		}
		return []string{name}, known
	}
	pattern, plain := patternOf(segment)
	if !plain {
		return nil, false
	}
	listed, _, known := e.names(prefix, at)
	if !known {
		return nil, false
	}
	for _, name := range listed {
		if hit, err := path.Match(pattern, name); err != nil {
			return nil, false
		} else if hit && (name[0] != '.' || segment[0].b == '.') {
			names = append(names, name)
		}
	}
	return names, true
}

// names lists a directory that a word names; there is false where there is none.
func (e *expander) names(name string, at dirs) (names []string, there, known bool) {
	if name == "" {
		name = "."
	}
	if traverses(name) || strings.HasPrefix(name, "..") {
		return nil, false, false
	}
	dirs, ok := at.join(name)
	if !ok || len(dirs) != 1 {
		return nil, false, false
	}
	names, err := e.env.List(dirs[0])
	if e.listed += len(names); e.listed > maxListed {
		return nil, false, false
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, true
	}
	return names, err == nil, err == nil
}

// patternOf is a segment as path.Match reads it. Classes by name, and ranges whose meaning
// depends on the language, are not plain.
func patternOf(segment []char) (pattern string, plain bool) {
	var b strings.Builder
	for i := 0; i < len(segment); i++ {
		switch c := segment[i]; {
		case c.inert && strings.IndexByte(`*?[]\-^!`, c.b) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c.b)
		case c == char{b: '['}:
			set, next := setOf(segment, i)
			if next < 0 {
				return "", false
			}
			b.WriteString(set)
			i = next
		default:
			b.WriteByte(c.b)
		}
	}
	return b.String(), true
}

// setOf reads a set like "[abc]", "[0-9]" or "[!a]".
func setOf(segment []char, at int) (set string, end int) {
	var b strings.Builder
	b.WriteByte('[')
	for i := at + 1; i < len(segment); i++ {
		c := segment[i]
		switch {
		case c.inert:
			return "", -1
		case c.b == ']' && i > at+1:
			b.WriteByte(']')
			return b.String(), i
		case i == at+1 && (c.b == '!' || c.b == '^'):
			b.WriteByte('^')
		case c.b >= '0' && c.b <= '9', c.b|0x20 >= 'a' && c.b|0x20 <= 'z', c.b == '_', c.b == '.', c.b == '-' && i > at+1:
			b.WriteByte(c.b)
		default:
			return "", -1
		}
	}
	return "", -1
}

package command

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// glob returns the names that a pattern matches, in the order of their bytes. A word that is not a
// pattern, or a pattern that matches nothing, stands for itself.
func (e *expander) glob(chars []char, at dirs) ([]string, bool) {
	if !isGlob(chars) {
		return []string{stringOf(chars)}, true
	}
	if _, ok := at.only(); !ok {
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
		return []string{stringOf(chars)}, true
	}
	slices.Sort(matches)
	return matches, true
}

func isGlob(chars []char) bool {
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

// match returns the names beneath prefix that the segments match. ok is false where that cannot be
// known: a directory is outside the roots or too large, or a pattern is not a simple one.
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

// matchSegment returns the names beneath prefix that one segment matches. A segment that is not a
// pattern is looked up only if it is the last one: to list the next directory shows whether this one
// exists.
func (e *expander) matchSegment(prefix string, segment []char, last bool, at dirs) (names []string, ok bool) {
	if !isGlob(segment) {
		name := stringOf(segment)
		if !last || name == "." || name == ".." {
			return []string{name}, true
		}
		listed, _, known := e.names(prefix, at)
		if !slices.Contains(listed, name) {
			return nil, known
		}
		return []string{name}, known
	}
	pattern, ok := patternOf(segment)
	if !ok {
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

// names lists a directory. there is false where it does not exist, known is false where that cannot be
// found out.
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

// patternOf returns a segment in the syntax of path.Match. ok is false for what that syntax lacks, such
// as classes by name, and for ranges whose meaning depends on the locale.
func patternOf(segment []char) (pattern string, ok bool) {
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

// setOf reads a bracket expression such as "[abc]", "[0-9]" or "[!a]". end is negative for any other.
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

package search

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of a glob pattern. A name is matched against each of the patterns without
// braces that it stands for.
const (
	maxGlobBytes    = 4096
	maxAlternatives = 256
	maxBraceDepth   = 16
)

// errTooManyAlternatives refuses a pattern whose braces stand for too much.
var errTooManyAlternatives = fmt.Errorf("its braces stand for more than %d patterns; the limit is %d patterns and %d braces within one another",
	maxAlternatives, maxAlternatives, maxBraceDepth)

// errLongGlob refuses a pattern that is too long.
var errLongGlob = fmt.Errorf("it is longer than %d bytes", maxGlobBytes)

// errBraces refuses braces that do not pair.
var errBraces = errors.New("syntax error in pattern")

// alternatives are the patterns without braces that a pattern stands for. They are few
// and short, so that a match costs little whatever the pattern.
func alternatives(glob string) ([]string, error) {
	if len(glob) > maxGlobBytes {
		return nil, errLongGlob
	}
	if !strings.Contains(glob, "{") {
		return []string{glob}, nil
	}
	e := expansion{glob: glob}
	list, err := e.sequence(0)
	if err == nil && e.at < len(glob) {
		err = errBraces
	}
	return list, err
}

// expansion reads a pattern from left to right.
type expansion struct {
	glob string
	at   int
}

// sequence reads up to the end of the pattern or, within braces, to the comma or brace
// that ends an alternative.
func (e *expansion) sequence(depth int) ([]string, error) {
	list := []string{""}
	for e.at < len(e.glob) {
		c := e.glob[e.at]
		if depth > 0 && (c == ',' || c == '}') {
			break
		}
		if c != '{' {
			piece := e.piece()
			for i := range list {
				list[i] += piece
			}
			continue
		}
		group, err := e.group(depth + 1)
		if err != nil {
			return nil, err
		}
		if len(list)*len(group) > maxAlternatives {
			return nil, errTooManyAlternatives
		}
		var product []string
		for _, before := range list {
			for _, after := range group {
				product = append(product, join(before, after))
			}
		}
		list = product
	}
	return list, nil
}

// join puts an alternative after what stands before its brace. A star on both sides of
// the brace stays one star, which does not match a slash.
func join(before, after string) string {
	star := strings.HasSuffix(before, "*") && !strings.HasSuffix(before, `\*`)
	if star && strings.HasPrefix(after, "*") && !strings.HasPrefix(after, "**") {
		after = after[1:]
	}
	return before + after
}

// group reads one pair of braces.
func (e *expansion) group(depth int) ([]string, error) {
	if depth > maxBraceDepth {
		return nil, errTooManyAlternatives
	}
	var list []string
	for {
		e.at++ // the brace or the comma
		alternative, err := e.sequence(depth)
		if err != nil {
			return nil, err
		}
		if list = append(list, alternative...); len(list) > maxAlternatives {
			return nil, errTooManyAlternatives
		}
		if e.at == len(e.glob) {
			return nil, errBraces
		}
		if e.glob[e.at] == '}' {
			e.at++
			return list, nil
		}
	}
}

// piece reads what holds no brace that counts: one character with its backslash, or a
// class in brackets.
func (e *expansion) piece() string {
	from := e.at
	switch c := e.glob[e.at]; {
	case c == '\\':
		e.at = min(e.at+2, len(e.glob))
	case c == '[':
		e.at = e.class()
	default:
		e.at++
	}
	return e.glob[from:e.at]
}

// class is where a class in brackets ends.
func (e *expansion) class() int {
	i := e.at + 1
	if i < len(e.glob) && (e.glob[i] == '!' || e.glob[i] == '^') {
		i++
	}
	for first := true; i < len(e.glob); first = false {
		switch {
		case e.glob[i] == '\\':
			i++
		case e.glob[i] == ']' && !first:
			return i + 1
		}
		i++
	}
	return len(e.glob)
}

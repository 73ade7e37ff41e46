package gitignore

import "strings"

// special are the bytes that end the literal head of a pattern.
const special = `*?[\`

// A pattern is one line of an ignore file, taken apart.
type pattern struct {
	negated  bool
	dirOnly  bool
	nameOnly bool // no slash: matched against the last element at any depth

	literal string // what the subject must start with, before any wildcard
	suffix  string // for "*literal" name patterns
	isTail  bool   // suffix is the whole pattern
	glob    glob   // what follows literal; nil: nothing may follow
}

// parsePattern reads one line without its terminator.
func parsePattern(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimTrailingSpaces(line)
	if line, p.negated = strings.CutPrefix(line, "!"); line == "" {
		return p, false
	}
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.nameOnly = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if rest, found := strings.CutPrefix(line, "*"); found && p.nameOnly && !strings.ContainsAny(rest, special) {
		p.suffix, p.isTail = rest, true
		return p, true
	}
	cut := strings.IndexAny(line, special)
	if cut < 0 {
		p.literal = line
		return p, true
	}
	// The wildcard part is compiled without its literal head, so that "**/"
	// right after a head counts as leading. That is git's behaviour too.
	p.literal = line[:cut]
	p.glob, ok = compile(line[cut:], !p.nameOnly)
	return p, ok
}

// match judges a path and its last element.
func (p *pattern) match(path, base string) bool {
	subject := path
	if p.nameOnly {
		subject = base
	}
	if p.isTail {
		return strings.HasSuffix(subject, p.suffix)
	}
	rest, found := strings.CutPrefix(subject, p.literal)
	if !found {
		return false
	}
	if p.glob == nil {
		return rest == ""
	}
	return p.glob.match(rest)
}

// trimTrailingSpaces drops trailing blanks (not tabs) that no backslash quotes.
func trimTrailingSpaces(s string) string {
	end := len(s)
	trailing := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
			if !trailing {
				end, trailing = i, true
			}
		case '\\':
			i++
			if i >= len(s) {
				return s
			}
			trailing = false
		default:
			trailing = false
		}
	}
	if trailing {
		return s[:end]
	}
	return s
}

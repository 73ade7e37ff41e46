package command

import (
	"slices"
	"strings"
)

// awkToken is a token of a script. Its kind is n for a number, s for a string, r for a regular expression,
// w for a name, and o for an operator or the end of a line.
type awkToken struct {
	kind byte
	text string
	call bool // a bracket follows at once
}

var awkOperators = []string{
	"&&", "||", "==", "!=", "<=", ">=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=",
	"{", "}", "(", ")", "[", "]", ";", "\n", ",", "+", "-", "*", "/", "%", "^", "!", "<", ">", "~", "?", ":", "=", "$",
}

// awkTokens splits a script into tokens. A slash after a value divides; any other one begins a regular
// expression.
func awkTokens(script string) (tokens []awkToken, ok bool) {
	for i := 0; i < len(script); {
		c := script[i]
		from := i
		switch {
		case c >= 0x80 || c == '\\' || c == '#' || c == '\'' || c == '@' || c == '`':
			return nil, false
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '"':
			if i = awkString(script, i); i < 0 {
				return nil, false
			}
			tokens = append(tokens, awkToken{kind: 's', text: script[from:i]})
			continue
		case c == '/' && len(tokens) > 0 && tokens[len(tokens)-1].text == "length":
			return nil, false // a regular expression to some awks, a division to others
		case c == '/' && !awkValue(tokens):
			if i = awkPattern(script, i); i < 0 {
				return nil, false
			}
			tokens = append(tokens, awkToken{kind: 'r', text: script[from:i]})
			continue
		case isDigit(c) || c == '.' && i+1 < len(script) && isDigit(script[i+1]):
			for i < len(script) && (isDigit(script[i]) || script[i] == '.') {
				i++
			}
			if i < len(script) && isName(script[i]) {
				return nil, false
			}
			tokens = append(tokens, awkToken{kind: 'n', text: script[from:i]})
			continue
		case isName(c):
			for i < len(script) && isName(script[i]) {
				i++
			}
			tokens = append(tokens, awkToken{kind: 'w', text: script[from:i], call: i < len(script) && script[i] == '('})
			continue
		}
		n := slices.IndexFunc(awkOperators, func(op string) bool { return strings.HasPrefix(script[i:], op) })
		if n < 0 {
			return nil, false
		}
		tokens = append(tokens, awkToken{kind: 'o', text: awkOperators[n]})
		i += len(awkOperators[n])
	}
	return tokens, true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isName(c byte) bool {
	return c == '_' || isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// awkValue reports whether the last token ends a value.
func awkValue(tokens []awkToken) bool {
	if len(tokens) == 0 {
		return false
	}
	switch last := tokens[len(tokens)-1]; last.kind {
	case 'n', 's', 'r':
		return true
	case 'w':
		return !hasWord(awkKeywords, last.text)
	default:
		return hasWord(") ] ++ -- $", last.text)
	}
}

// awkString returns the end of the string at a position. It is negative where not every awk would find the
// same end.
func awkString(script string, at int) int {
	for i := at + 1; i < len(script); i++ {
		switch script[i] {
		case '"':
			return i + 1
		case '\\':
			if i++; i == len(script) || script[i] == '\n' {
				return -1
			}
		case '\n':
			return -1
		}
		if script[min(i, len(script)-1)] >= 0x80 {
			return -1
		}
	}
	return -1
}

// awkPattern returns the end of the regular expression at a position. It is negative where not every awk
// would find the same end: a slash or a backslash in brackets ends it for some.
func awkPattern(script string, at int) int {
	inside := false
	for i := at + 1; i < len(script); i++ {
		switch c := script[i]; {
		case c == '\n' || c >= 0x80 || inside && (c == '/' || c == '\\' || c == '['):
			return -1
		case c == '/':
			return i + 1
		case c == '\\':
			if i++; i == len(script) || script[i] == '\n' {
				return -1
			}
		case c == '[':
			inside = true
			if i+1 < len(script) && script[i+1] == '^' {
				i++
			}
			if i+1 < len(script) && script[i+1] == ']' {
				return -1
			}
		case c == ']':
			inside = false
		}
	}
	return -1
}

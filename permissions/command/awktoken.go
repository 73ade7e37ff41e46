package command

import (
	"slices"
	"strings"
)

// awkToken is a piece of a script. Kinds: n is a number, s a string, r a pattern between slashes,
// w a name, and o an operator or the end of a line.
type awkToken struct {
	kind byte
	text string
	// call says that a bracket follows at once.
	call bool
}

var awkOperators = []string{
	"&&", "||", "==", "!=", "<=", ">=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=",
	"{", "}", "(", ")", "[", "]", ";", "\n", ",", "+", "-", "*", "/", "%", "^", "!", "<", ">", "~", "?", ":", "=", "$",
}

// awkTokens takes a script apart. A slash begins a pattern unless a value stands before it.
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
			return nil, false // a pattern to some awks, and to others a division
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

// awkValue reports that the last token ends a value, so that a slash divides.
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

// awkString is the end of a string, awkPattern that of a pattern; negative where it has none that
// every awk would find. Some of them let a slash, or a backslash, be in brackets, and others not.
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

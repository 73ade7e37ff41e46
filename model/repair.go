package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"acp-agent/internal/jsonscan"
)

// RepairArguments makes a JSON object of the argument text of a tool call, if
// there is only one way to read it. The result is false when there is not; the
// text is then returned as it is. Values are never guessed: text that ends
// within one, or after a number that may have had more digits, is not repaired.
//
// What is repaired: nothing at all (an object without members), code fences, an
// object within a JSON string, raw control characters in strings, commas before
// a closing bracket, one missing brace at the end or some too many, an object that
// is sent twice or after an empty one, a mark of the chat template at the end, and
// a backslash that begins no escape, in a string that has none.
func RepairArguments(args string) (string, bool) {
	for _, text := range []string{args, unfence(args)} {
		if fixed, ok := repair(text, true); ok {
			return fixed, true
		}
	}
	return args, false
}

func repair(text string, nested bool) (string, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	if text == "" || text == "null" {
		return "{}", true
	}
	if isObject(text) {
		return text, true
	}
	var inner string
	if nested && json.Unmarshal([]byte(text), &inner) == nil {
		return repair(inner, false)
	}
	if text[0] != '{' {
		return "", false
	}
	text = mend(jsonscan.EscapeControls(escapeBackslashes(text)))
	if isObject(text) {
		return text, true
	}
	return single(text)
}

// escapeBackslashes doubles the backslashes of each string in which one begins no escape, such as
// in a regular expression, and none begins an escape that could have been meant.
func escapeBackslashes(text string) string {
	var out strings.Builder
	for rest := text; rest != ""; {
		start := strings.IndexByte(rest, '"')
		if start < 0 {
			out.WriteString(rest)
			break
		}
		end, literalOnly := stringEnd(rest, start+1)
		literal := rest[start:end]
		if literalOnly {
			literal = strings.ReplaceAll(literal, `\`, `\\`)
		}
		out.WriteString(rest[:start] + literal)
		if end < len(rest) {
			out.WriteByte('"')
			end++
		}
		rest = rest[end:]
	}
	return out.String()
}

// stringEnd returns where the string that starts at from ends: at its closing quote, or with the
// text. literalOnly reports whether its backslashes were all meant as they are.
func stringEnd(text string, from int) (end int, literalOnly bool) {
	wrong, meant := false, false
	for end = from; end < len(text) && text[end] != '"'; end++ {
		if text[end] != '\\' || end+1 == len(text) {
			continue
		}
		end++
		switch {
		case strings.IndexByte("bfnrtu", text[end]) >= 0:
			meant = true
		case strings.IndexByte(`"\/`, text[end]) < 0:
			wrong = true
		default:
			meant = meant || text[end] != '/'
		}
	}
	return min(end, len(text)), wrong && !meant
}

// isObject reports whether text is a JSON object.
func isObject(text string) bool {
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}

// unfence takes the text out of a Markdown code fence.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "```") || !strings.HasSuffix(text, "```") || len(text) < 6 {
		return text
	}
	text = text[3 : len(text)-3]
	if info, rest, found := strings.Cut(text, "\n"); found && !strings.Contains(info, "{") {
		return rest
	}
	return strings.TrimPrefix(text, "json")
}

// mend leaves out commas before a closing bracket, and adds the last brace if only that one
// is missing.
func mend(text string) string {
	b := make([]byte, 0, len(text)+1)
	var open []byte // the brackets that are open
	inString, escaped := false, false
	comma := -1 // where a comma stands in b with only space after it
	for i := range len(text) {
		c := text[i]
		switch {
		case escaped:
			escaped = false
		case inString && c == '\\':
			escaped = true
		case c == '"':
			inString, comma = !inString, -1
		case inString, c == ' ', c == '\n', c == '\r', c == '\t':
		case c == ',':
			if comma >= 0 {
				return text // two in a row: something is missing
			}
			comma = len(b)
		case c == '}' || c == ']':
			if comma >= 0 {
				b[comma] = ' '
			}
			comma = -1
			open = open[:max(len(open)-1, 0)]
		default:
			comma = -1
			if c == '{' || c == '[' {
				open = append(open, c)
			}
		}
		b = append(b, c)
	}
	if !inString && string(open) == "{" && complete(b) {
		b = append(b, '}')
	}
	return string(b)
}

// complete reports whether the last value of text is whole, as a number may not be.
func complete(text []byte) bool {
	text = bytes.TrimRight(text, " \t\r\n")
	switch text[len(text)-1] {
	case '"', '}', ']':
		return true
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasSuffix(text, []byte(word)) {
			return true
		}
	}
	return false
}

// isMark reports whether a text is a mark that a chat template has at the end of a call.
func isMark(text string) bool {
	for _, open := range []string{"<|", "<｜", "</"} {
		if strings.HasPrefix(text, open) && strings.HasSuffix(text, ">") && len(text) < 64 && strings.Count(text, ">") == 1 {
			return true
		}
	}
	return false
}

// single reads a row of objects that says one thing: the same object again, an
// empty one before it, closing braces after it.
func single(text string) (string, bool) {
	dec := json.NewDecoder(strings.NewReader(text))
	found := ""
	for {
		var value json.RawMessage
		err := dec.Decode(&value)
		if err != nil {
			rest := strings.Trim(text[dec.InputOffset():], "} \t\r\n")
			return found, found != "" && (errors.Is(err, io.EOF) || rest == "" || isMark(rest))
		}
		next := string(value)
		switch {
		case !isObject(next):
			return "", false
		case found == "" || strings.Trim(found, "{} \t\r\n") == "" || next == found:
			found = next
		default:
			return "", false
		}
	}
}

package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/shell"
)

// char is a byte of a word. An inert one was quoted, or is of the value of a variable, and has no special
// meaning for braces and globs.
type char struct {
	b     byte
	inert bool
}

// stringOf returns the bytes of chars.
func stringOf(chars []char) string {
	b := make([]byte, len(chars))
	for i, c := range chars {
		b[i] = c.b
	}
	return string(b)
}

// inert returns the bytes of s without special meaning.
func inert(s string) []char {
	out := make([]char, len(s))
	for i := range len(s) {
		out[i] = char{s[i], true}
	}
	return out
}

// fields expands a word as bash does: braces, variables, field splitting, globs.
func (e *expander) fields(w *syntax.Word, x expansion) ([]string, bool) {
	if list, ok := e.list(w, x); ok {
		return list, true
	}
	chars, ok := e.chars(w, x, false)
	if !ok {
		return nil, false
	}
	alternatives, ok := braces(chars)
	if !ok {
		return nil, false
	}
	var out []string
	for _, alternative := range alternatives {
		if len(alternative) == 0 {
			return nil, false // the shell drops an empty word unless it is quoted
		}
		names, ok := e.glob(alternative, x.at)
		if out = append(out, names...); !ok || len(out) > maxFields {
			return nil, false
		}
	}
	return out, true
}

// list splits the value of a variable that is the whole word, unquoted.
func (e *expander) list(w *syntax.Word, x expansion) ([]string, bool) {
	if len(w.Parts) != 1 {
		return nil, false
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	if !ok {
		return nil, false
	}
	value, ok := e.value(p, x)
	fields := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\n", r) })
	if !ok || len(fields) == 0 || strings.ContainsAny(value, `*?[\`) {
		return nil, false
	}
	return fields, true
}

// value returns the value of a variable that the text sets, or of one of the few that are known.
func (e *expander) value(p *syntax.ParamExp, x expansion) (string, bool) {
	if !plainValue(p) {
		return "", false
	}
	switch name := p.Param.Value; name {
	case "HOME":
		return e.env.Home, e.env.Home != ""
	case "PWD":
		return x.at.only()
	default:
		value, ok := x.vars[name]
		return value, ok
	}
}

// chars expands the variables and the home of a word. In an assignment, the shell does not split values, and braces
// and globs are ordinary characters.
func (e *expander) chars(w *syntax.Word, x expansion, assignment bool) (out []char, ok bool) {
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text := part.Value
			if below, ok := strings.CutPrefix(text, "~/"); ok && i == 0 && !assignment && e.env.Home != "" {
				out, text = append(out, inert(e.env.Home)...), "/"+below
			}
			chars, ok := literalChars(text)
			if !ok || tilde(chars, i == 0) {
				return nil, false
			}
			out = append(out, chars...)
		case *syntax.SglQuoted:
			known, ok := shell.Static(&syntax.Word{Parts: []syntax.WordPart{part}})
			if !ok {
				return nil, false
			}
			out = append(out, inert(known.Value)...)
		case *syntax.DblQuoted:
			chars, ok := e.quotedChars(part, x)
			if !ok {
				return nil, false
			}
			out = append(out, chars...)
		default:
			value, ok := e.expansionOf(part, x)
			if !ok || !assignment && (value == "" || strings.ContainsAny(value, " \t\n*?[\\")) {
				return nil, false
			}
			out = append(out, inert(value)...)
		}
	}
	return out, true
}

// expansionOf returns the value of "$NAME" or "$(pwd)".
func (e *expander) expansionOf(part syntax.WordPart, x expansion) (string, bool) {
	switch part := part.(type) {
	case *syntax.ParamExp:
		return e.value(part, x)
	case *syntax.CmdSubst:
		if isPwd(part) {
			return x.at.only()
		}
	}
	return "", false
}

// quotedChars expands the variables of a word in double quotes.
func (e *expander) quotedChars(q *syntax.DblQuoted, x expansion) (out []char, ok bool) {
	if q.Dollar {
		return nil, false
	}
	for _, part := range q.Parts {
		value := ""
		if lit, isLit := part.(*syntax.Lit); isLit {
			known, ok := shell.Static(&syntax.Word{Parts: []syntax.WordPart{&syntax.DblQuoted{Parts: []syntax.WordPart{lit}}}})
			if !ok {
				return nil, false
			}
			value = known.Value
		} else if value, ok = e.expansionOf(part, x); !ok {
			return nil, false
		}
		out = append(out, inert(value)...)
	}
	return out, true
}

// literalChars removes the backslashes of an unquoted literal. The bytes after them are inert.
func literalChars(lit string) (out []char, ok bool) {
	for i := 0; i < len(lit); i++ {
		if lit[i] != '\\' {
			out = append(out, char{b: lit[i]})
			continue
		}
		if i++; i == len(lit) || lit[i] == '\n' {
			return nil, false
		}
		out = append(out, char{lit[i], true})
	}
	return out, true
}

// tilde reports a "~" that the shell may expand.
func tilde(chars []char, first bool) bool {
	for i, c := range chars {
		if c.b == '~' && !c.inert && (i == 0 && first || i > 0 && (chars[i-1].b == '=' || chars[i-1].b == ':')) {
			return true
		}
	}
	return false
}

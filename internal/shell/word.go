package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Word is the value of a word that the shell will not change: no expansion, no glob,
// no brace (C2).
type Word struct {
	Value string
	// Tilde is set when the word begins with an unquoted "~", which the shell replaces.
	Tilde bool
	// Quoted is set when some part was quoted or escaped, so that the word is neither a
	// keyword nor an alias.
	Quoted bool
}

// Static evaluates a word made of literals, single quotes, double quotes around
// literals, and plain ANSI-C quotes. For anything else ok is false. A "~" at the start
// is static in itself and reported, since it depends on the home directory only.
func Static(w *syntax.Word) (word Word, ok bool) {
	if w == nil {
		return Word{}, false
	}
	if w.Lit() == "[" {
		return Word{Value: "["}, true // the command; a bracket that nothing closes is not a glob
	}
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(part.Value, "~") {
				word.Tilde = true
			}
			quoted, ok := bareLiteral(&b, part.Value)
			if !ok {
				return Word{}, false
			}
			word.Quoted = word.Quoted || quoted
		case *syntax.SglQuoted:
			word.Quoted = true
			value := part.Value
			if part.Dollar {
				if value, ok = ansiQuoted(value); !ok {
					return Word{}, false
				}
			}
			b.WriteString(value)
		case *syntax.DblQuoted:
			word.Quoted = true
			if part.Dollar || !doubleQuoted(&b, part.Parts) {
				return Word{}, false
			}
		default:
			return Word{}, false
		}
	}
	word.Value = b.String()
	return word, true
}

// bareLiteral appends an unquoted literal without its backslashes. Glob and brace
// characters that are not escaped make the word depend on the disk or on expansion, and
// so does a "~" after the "=" or ":" of an assignment.
func bareLiteral(b *strings.Builder, lit string) (quoted, ok bool) {
	for i := 0; i < len(lit); i++ {
		switch c := lit[i]; c {
		case '\\':
			quoted = true
			if i++; i == len(lit) {
				return quoted, false
			}
			if lit[i] != '\n' {
				b.WriteByte(lit[i])
			}
		case '*', '?', '[', '{', '$', '`':
			return quoted, false
		case '~':
			// In a word like an assignment, bash replaces it there, too.
			if before := b.String(); strings.HasSuffix(before, "=") || strings.HasSuffix(before, ":") {
				return quoted, false
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return quoted, true
}

func doubleQuoted(b *strings.Builder, parts []syntax.WordPart) bool {
	for _, part := range parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return false
		}
		for i := 0; i < len(lit.Value); i++ {
			c := lit.Value[i]
			if c != '\\' || i+1 == len(lit.Value) || !strings.ContainsRune("$`\"\\\n", rune(lit.Value[i+1])) {
				b.WriteByte(c)
				continue
			}
			if i++; lit.Value[i] != '\n' {
				b.WriteByte(lit.Value[i])
			}
		}
	}
	return true
}

// ansiQuoted evaluates $'…' when it holds only the plainest escapes. Numbers could
// spell anything and are left to a user.
func ansiQuoted(value string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			b.WriteByte(value[i])
			continue
		}
		if i++; i == len(value) {
			return "", false
		}
		switch value[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case '\\', '\'', '"':
			b.WriteByte(value[i])
		default:
			return "", false
		}
	}
	return b.String(), true
}

// ExpandTilde replaces "~" and "~/…" by the home directory. Other users' homes and
// the shell's own forms ("~+", "~-") are not known here; nor is an empty home.
func ExpandTilde(name, home string) (expanded string, ok bool) {
	rest, found := strings.CutPrefix(name, "~")
	if !found {
		return name, true
	}
	if home == "" || rest != "" && rest[0] != '/' {
		return name, false
	}
	return home + rest, true
}

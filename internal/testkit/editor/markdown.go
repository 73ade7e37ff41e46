package editor

import (
	"regexp"
	"strings"
	"sync"
)

// marks are what marks text in Markdown. They are made when they are needed: the agent of a
// test is the test binary, too.
var marks = sync.OnceValue(func() (m struct {
	escapes, codeSpan *regexp.Regexp
	markup            []*regexp.Regexp
},
) {
	m.escapes = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	m.codeSpan = regexp.MustCompile("`([^`]+)`")
	for _, pattern := range []string{
		`\*\*(\S[^*]*)\*\*`,
		`\*(\S[^*]*)\*`,
		`(^|[^\pL\pN_])__(\S[^_]*)__($|[^\pL\pN_])`,
		`(^|[^\pL\pN_])_(\S[^_]*)_($|[^\pL\pN_])`,
		`\[([^\]]+)\]\([^)]*\)`,
		`<[a-zA-Z/][^>]*>`,
	} {
		m.markup = append(m.markup, regexp.MustCompile(pattern))
	}
	return m
})

// unmarked is a line of Markdown as it looks when it is shown: characters that mark
// emphasis, links and tags are gone; escaped characters and characters in code stay.
func unmarked(line string) string {
	const first = '\uE000' // stands for the first piece that is kept as it is
	var kept []string
	keep := func(s string) string {
		kept = append(kept, s)
		return string(rune(first + len(kept) - 1))
	}
	line = marks().codeSpan.ReplaceAllStringFunc(line, func(s string) string { return keep(s[1 : len(s)-1]) })
	line = marks().escapes.ReplaceAllStringFunc(line, func(s string) string { return keep(s[1:]) })
	for _, m := range marks().markup {
		line = m.ReplaceAllString(line, "$1$2$3")
	}
	for i, piece := range kept {
		line = strings.ReplaceAll(line, string(rune(first+i)), piece)
	}
	return line
}

// unescaped is a line without the signs that keep characters from being markup.
func unescaped(line string) string {
	return marks().escapes.ReplaceAllString(strings.ReplaceAll(line, "`", ""), "$1")
}

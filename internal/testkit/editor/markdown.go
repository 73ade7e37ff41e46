package editor

import (
	"regexp"
	"strings"
)

var (
	escapes  = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	codeSpan = regexp.MustCompile("`([^`]+)`")
	markup   = []*regexp.Regexp{
		regexp.MustCompile(`\*\*(\S[^*]*)\*\*`),
		regexp.MustCompile(`\*(\S[^*]*)\*`),
		regexp.MustCompile(`(^|[^\pL\pN_])__(\S[^_]*)__($|[^\pL\pN_])`),
		regexp.MustCompile(`(^|[^\pL\pN_])_(\S[^_]*)_($|[^\pL\pN_])`),
		regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`),
		regexp.MustCompile(`<[a-zA-Z/][^>]*>`),
	}
)

// unmarked is a line of Markdown as it looks when it is shown: characters that mark
// emphasis, links and tags are gone, those that are escaped or in code stand.
func unmarked(line string) string {
	const first = '\uE000' // stands for the first piece that is kept as it is
	var kept []string
	keep := func(s string) string {
		kept = append(kept, s)
		return string(rune(first + len(kept) - 1))
	}
	line = codeSpan.ReplaceAllStringFunc(line, func(s string) string { return keep(s[1 : len(s)-1]) })
	line = escapes.ReplaceAllStringFunc(line, func(s string) string { return keep(s[1:]) })
	for _, m := range markup {
		line = m.ReplaceAllString(line, "$1$2$3")
	}
	for i, piece := range kept {
		line = strings.ReplaceAll(line, string(rune(first+i)), piece)
	}
	return line
}

// unescaped is a line without the signs that keep characters from being markup.
func unescaped(line string) string {
	return escapes.ReplaceAllString(strings.ReplaceAll(line, "`", ""), "$1")
}

package commands

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxMentions bounds the files that are looked for in one text.
const maxMentions = 100

// mention finds @path and @"path with blanks", at the beginning of a word.
var mention = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:^|[\\s(\\[{'\"`])@(?:\"([^\"\n]+)\"|([^\\s\"'`()\\[\\]{}<>,;]+))")
})

// Mentions are the paths that a text mentions as @path, each once, in their order. Whether there
// is such a file is not known here: an @ stands before names of other things, too.
func Mentions(text string) []string {
	var list []string
	for _, m := range mention().FindAllStringSubmatch(text, maxMentions) {
		path := m[1]
		if path == "" {
			path = strings.TrimRight(m[2], ".:!?")
		}
		if path != "" && !slices.Contains(list, path) {
			list = append(list, path)
		}
	}
	return list
}

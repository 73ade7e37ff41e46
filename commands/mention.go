package commands

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxMentions bounds the mentions of one text.
const maxMentions = 100

// mention matches @path and @"path with spaces", at the beginning of a word.
var mention = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:^|[\\s(\\[{'\"`])@(?:\"([^\"\n]+)\"|([^\\s\"'`()\\[\\]{}<>,;]+))")
})

// Mentions are the paths that a text mentions as @path, each once, in their order. The caller checks
// whether there is such a file: an @ may also precede the name of something else.
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

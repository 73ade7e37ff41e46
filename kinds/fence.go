package kinds

import "strings"

// Code makes one line of Markdown code, of at most limit runes, of a text that may hold
// anything.
func Code(text string, limit int) string {
	return "`" + strings.ReplaceAll(Line(text, limit), "`", "'") + "`"
}

// Fence makes a Markdown code block that nothing in its text can end: the fence
// is longer than any run of backticks in it. language may be empty.
func Fence(language, text string) string {
	run, longest := 0, 2
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	ticks := strings.Repeat("`", longest+1)
	return ticks + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + ticks
}

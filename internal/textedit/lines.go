package textedit

import "strings"

// changedLines is the range of lines of after that differ from before, 1-based.
// Where lines only went, it is the line that took their place, or the last one.
func changedLines(before, after string) [2]int {
	was, now := lineTexts(before), lineTexts(after)
	head := 0
	for head < len(was) && head < len(now) && was[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(now)-head && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	first := min(head+1, max(len(now), 1))
	return [2]int{first, max(first, len(now)-tail)}
}

// lineTexts splits into lines, each with its terminator.
func lineTexts(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

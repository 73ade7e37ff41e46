package textedit

import "strings"

// ChangedLines is the range of lines of after that differ from before, 1-based.
// Where lines only went, it is the line that took their place, or the last one.
func ChangedLines(before, after string) [2]int {
	same := commonPrefix(before, after)
	if same < len(before) || same < len(after) {
		same = strings.LastIndexByte(before[:same], '\n') + 1
	}
	head := countLines(before[:same])
	was, now := before[same:], after[same:]
	tail := 0
	if n := commonSuffix(was, now); n > 0 {
		end := now[len(now)-n:]
		if !startsLine(was, len(was)-n) || !startsLine(now, len(now)-n) {
			_, end, _ = strings.Cut(end, "\n")
		}
		tail = countLines(end)
	}
	all := head + countLines(now)
	first := min(head+1, max(all, 1))
	return [2]int{first, max(first, all-tail)}
}

// startsLine reports whether a line begins at an offset of a text, which begins with one.
func startsLine(text string, at int) bool { return at == 0 || text[at-1] == '\n' }

// countLines counts lines, of which the last one may have no terminator.
func countLines(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

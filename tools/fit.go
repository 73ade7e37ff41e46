package tools

import (
	"fmt"
	"strings"

	"acp-agent/internal/textcut"
)

// Fit cuts a text to about size bytes: its beginning and its end stay, in whole lines where
// the lines are short enough, and a line between them says how much was left out and, in
// the words of where, how to get it. The line itself does not count, so that a text is
// never cut to nothing but that. A text that fits stays as it is.
func Fit(text string, size int, where string) string {
	if size <= 0 || len(text) <= size {
		return text
	}
	head, tail := fitHead(text, size/2), fitTail(text, size-size/2)
	left := len(text) - len(head) - len(tail)
	var b strings.Builder
	b.WriteString(head)
	if head != "" && !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "[%d bytes left out here, too long for the model's window; %s]\n", left, where)
	b.WriteString(tail)
	return b.String()
}

// wholeLine bounds, as a divisor, the part of a piece that may be given up so that it ends with a
// whole line.
const wholeLine = 4

// fitHead is the beginning of a text, in at most size bytes.
func fitHead(text string, size int) string {
	head := textcut.First(text, size)
	if end := strings.LastIndexByte(head, '\n') + 1; end > len(head)-len(head)/wholeLine {
		return head[:end]
	}
	return head
}

// fitTail is the end of a text, in at most size bytes.
func fitTail(text string, size int) string {
	tail := textcut.Last(text, size)
	at := len(text) - len(tail)
	if at > 0 && text[at-1] == '\n' {
		return tail
	}
	if begin := strings.IndexByte(tail, '\n') + 1; begin > 0 && begin < len(tail)/wholeLine {
		return tail[begin:]
	}
	return tail
}

package patch

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// numbers are those of a hunk's header: where it begins in the old text, and
// how many old and new lines it says to have.
type numbers struct {
	start, old, new int
}

var hunkHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^@@+\s*-(\d{1,9})(?:,(\d{1,9}))?\s+\+\d{1,9}(?:,(\d{1,9}))?\s*@@`)
})

// hunkNumbers reads a header; ok is false when it has no numbers.
func hunkNumbers(line string) (n numbers, ok bool) {
	m := hunkHeader().FindStringSubmatch(line)
	if m == nil {
		return numbers{}, false
	}
	return numbers{number(m[1]), number(m[2]), number(m[3])}, true
}

// number is 1 for a count that is left out.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1
	}
	return n
}

// bodyEnd is the index after the body of a hunk that begins at i. Its counts are
// often wrong, so they decide only what is open otherwise: whether two lines
// that look like names are, and whether empty lines at the end belong to it.
func (u *unified) bodyEnd(i int, h rawHunk) int {
	left := h.numbers
	for ; i < len(u.lines) && !u.stopped(); i++ {
		line := u.lines[i]
		if !isBody(line) || h.numbered && u.namesEnd(i, left) || !h.numbered && u.namesAt(i) && strings.HasPrefix(u.at(i+2), "@@") {
			break
		}
		if h.numbered && left.old <= 0 && left.new <= 0 && u.signature(i) {
			break
		}
		left = left.less(line)
	}
	// An empty line is a blank one whose blank was lost, or stands after the hunk.
	for u.lines[i-1] == "" && (!h.numbered || left.old != 0 || left.new != 0) {
		i--
		left.old, left.new = left.old+1, left.new+1
	}
	return i
}

// less counts one line of a body.
func (n numbers) less(line string) numbers {
	switch {
	case line == "" || line[0] == ' ':
		n.old, n.new = n.old-1, n.new-1
	case line[0] == '-':
		n.old--
	case line[0] == '+':
		n.new--
	}
	return n
}

// namesEnd reports whether the names of another file stand at i, and not a
// removed line that begins with "-- " and an added one that begins with "++ ":
// these end the hunk only if its counts are used up with them.
func (u *unified) namesEnd(i int, left numbers) bool {
	if !u.namesAt(i) {
		return false
	}
	if left.old <= 0 && left.new <= 0 {
		return true
	}
	return strings.HasPrefix(u.at(i+2), "@@") && (left.old != 1 || left.new != 1)
}

// signature reports whether the line at i is the one that git puts below a
// patch, above its version.
func (u *unified) signature(i int) bool {
	next := u.at(i + 1)
	return u.lines[i] == "-- " && (next == "" || next[0] >= '0' && next[0] <= '9')
}

func isBody(line string) bool {
	return line == "" || line[0] == ' ' || line[0] == '+' || line[0] == '-' || strings.HasPrefix(line, `\ `)
}

package builtin

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

var lineNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[ \t]*([0-9]+)(?:: ?|\t|→|\| ?)`)
})

// withoutNumbers takes off the line numbers that read shows, in the forms that agents
// have for them, when each line of old has one and they count up. The new text has
// them on each of its lines, or on none.
func withoutNumbers(old, new string) (plainOld, plainNew string, ok bool) {
	plainOld, all, _ := unnumbered(old, true)
	if !all {
		return "", "", false
	}
	plainNew, all, some := unnumbered(new, false)
	switch {
	case all:
		return plainOld, plainNew, true
	case some:
		return "", "", false
	}
	return plainOld, new, true
}

// unnumbered is a text without line numbers; all says that each line had one, and
// some that any had. An empty line at the end needs none.
func unnumbered(text string, counting bool) (plain string, all, some bool) {
	lines := strings.SplitAfter(text, "\n")
	before := 0
	all = strings.TrimSpace(text) != ""
	for i, line := range lines {
		if line == "" && i == len(lines)-1 {
			break
		}
		match := lineNumber().FindStringSubmatch(line)
		if match == nil {
			all = false
			continue
		}
		number, err := strconv.Atoi(match[1])
		if err != nil || counting && before > 0 && number != before+1 {
			all = false
		}
		some, before = true, number
		lines[i] = line[len(match[0]):]
	}
	return strings.Join(lines, ""), all, some
}

package acptest

import (
	"regexp"
	"strconv"
)

var callName = regexp.MustCompile(`\$CALL([1-9]\d*)?`)

// callNames puts ids of tool calls in the place of their names. A call that was not
// opened has none.
func (p *player) callNames(line string) string {
	if !callName.MatchString(line) {
		return line
	}
	ids := []string{""}
	for _, l := range p.Lines() {
		if l.FromAgent && l.Message != nil {
			if kind, call := l.Message.Update(); kind == "tool_call" {
				id, _ := call["toolCallId"].(string)
				ids = append(ids, id)
			}
		}
	}
	return callName.ReplaceAllStringFunc(line, func(name string) string {
		n, err := strconv.Atoi(name[len("$CALL"):])
		switch {
		case err != nil:
			return ids[len(ids)-1]
		case n >= len(ids):
			p.fatal("%s: %d tool calls were opened so far", name, len(ids)-1)
		}
		return ids[n]
	})
}

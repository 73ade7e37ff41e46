package acptest

import (
	"fmt"
	"regexp"
	"strconv"
)

var callName = regexp.MustCompile(`\$CALL([1-9]\d*)?`)

// callNames puts the ids of tool calls in the place of their names. A call that has a
// number is waited for.
func (p *player) callNames(line string) string {
	return callName.ReplaceAllStringFunc(line, func(name string) string {
		if n, err := strconv.Atoi(name[len("$CALL"):]); err == nil {
			return p.nthCall(n)
		}
		return p.latestCall()
	})
}

// nthCall waits for the n-th tool call to be opened and returns its id.
func (p *player) nthCall(n int) string {
	opened := 0
	m, _ := p.await(0, fmt.Sprintf("tool call %d to be opened", n), func(m *Message) bool {
		if kind, _ := m.Update(); kind == "tool_call" {
			opened++
		}
		return opened == n
	})
	_, call := m.Update()
	id, _ := call["toolCallId"].(string)
	return id
}

// latestCall is the id of the tool call that was opened last, "" before any. The calls of
// subagents do not count.
func (p *player) latestCall() string {
	id := ""
	for _, l := range p.Lines() {
		if l.FromAgent && l.Message != nil {
			if kind, call := l.Message.Update(); kind == "tool_call" && parentOf(call) == "" {
				id, _ = call["toolCallId"].(string)
			}
		}
	}
	return id
}

package acptest

import (
	"maps"
	"path/filepath"
	"reflect"
	"strings"
)

// callState is what the client knows of a tool call.
type callState struct {
	status string
	fields map[string]any // by updates alone
	// asked are the fields as a client has them that takes over what permission requests
	// carry; nil before the first.
	asked  map[string]any
	parent string // the call that spawned the subagent whose call this is
	// background says that its result may come after the end of the turn.
	background bool
	heard      int // how many prompts were answered when its last update came
}

func (s *callState) final() bool { return s.status == "completed" || s.status == "failed" }

// isJob reports whether the call started a command in the background.
func (s *callState) isJob() bool { return s.background && s.fields["kind"] == "execute" }

// knows reports whether every client has the value of a field already.
func (s *callState) knows(name string, value any) bool {
	return reflect.DeepEqual(value, s.fields[name]) && (s.asked == nil || reflect.DeepEqual(value, s.asked[name]))
}

// callFields are the members of a call that an update need only have when they
// have changed.
var callFields = []string{"title", "name", "kind", "status", "content", "locations", "rawInput", "rawOutput"}

func (c *checker) callOpened(s *sessionState, members map[string]any) {
	id, _ := members["toolCallId"].(string)
	if id == "" || s.calls[id] != nil {
		c.problem("tool_call with the id %q, which is empty or taken", id)
	}
	call := &callState{status: "pending", heard: s.ended, fields: map[string]any{}, parent: parentOf(members)}
	s.calls[id] = call
	c.parentKept(s, id, call, members)
	c.parentOpen(s, id)
	for _, name := range []string{"title", "kind", "name"} {
		if text, _ := members[name].(string); text == "" {
			c.problem("the call %s was opened without %s", id, name)
		}
	}
	c.absorb(call, members)
	s.spawns = s.spawns || call.background
}

func (c *checker) callUpdated(s *sessionState, members map[string]any) {
	id, _ := members["toolCallId"].(string)
	call := s.calls[id]
	switch {
	case call == nil:
		c.problem("tool_call_update for %s, which was never opened", id)
		return
	case call.final():
		c.problem("tool_call_update for %s, which is %s: %s", id, call.status, encode(members))
	}
	c.parentKept(s, id, call, members)
	for _, name := range callFields {
		if value, sent := members[name]; sent && call.knows(name, value) && !c.newCard(s, call) {
			c.problem("the call %s has its %s sent again unchanged: %s", id, name, encode(value))
		}
	}
	if len(members) == 2 || len(members) == 3 && parentOf(members) != "" && len(members["_meta"].(map[string]any)) == 1 {
		c.problem("tool_call_update for %s says nothing", id)
	}
	c.absorb(call, members)
	call.heard = s.ended
	s.spawns = s.spawns || call.background
	if call.final() {
		c.childrenEnded(s, id)
		c.questionGone(id, call)
	}
}

// absorbQuestion takes over what a permission request carries of a call.
func (c *checker) absorbQuestion(call *callState, members map[string]any) {
	if call.asked == nil {
		call.asked = maps.Clone(call.fields)
	}
	for _, name := range callFields {
		if value := members[name]; value != nil {
			call.asked[name] = value
		}
	}
	c.paths(members)
}

// questionGone insists that nothing of a question is left in the card of a call that has ended.
func (c *checker) questionGone(id string, call *callState) {
	content, _ := call.asked["content"].([]any)
	for _, block := range content {
		if text, _ := at(block, "content.text").(string); strings.Contains(text, "Asked because: ") {
			c.problem("the call %s has ended, and a client that takes over what permission requests carry still shows: %s", id, text)
		}
	}
	for _, name := range []string{"title", "kind", "locations", "content"} {
		if call.asked != nil && !reflect.DeepEqual(call.asked[name], call.fields[name]) && !(empty(call.asked[name]) && empty(call.fields[name])) {
			c.problem("the %s of the call %s is %s, and %s in a client that takes over what permission requests carry",
				name, id, encode(call.fields[name]), encode(call.asked[name]))
		}
	}
}

// empty reports whether a field shows nothing.
func empty(value any) bool {
	list, isList := value.([]any)
	return value == nil || isList && len(list) == 0
}

// absorb takes the members of a tool_call or tool_call_update over.
func (c *checker) absorb(call *callState, members map[string]any) {
	for _, name := range callFields {
		if value := members[name]; value != nil {
			call.fields[name] = value
			if call.asked != nil {
				call.asked[name] = value
			}
		}
	}
	if status, _ := members["status"].(string); status != "" {
		call.status = status
	}
	if at(members, "rawInput.background") == true {
		call.background = true
	}
	c.paths(members)
}

// paths judges the paths and lines that an editor is to open.
func (c *checker) paths(members map[string]any) {
	locations, _ := members["locations"].([]any)
	for _, location := range locations {
		path, _ := at(location, "path").(string)
		line, given := at(location, "line").(float64)
		if !filepath.IsAbs(path) || given && line < 1 {
			c.problem("the location %s is not an absolute path with a line from 1 on", encode(location))
		}
	}
	content, _ := members["content"].([]any)
	for _, block := range content {
		if path, _ := at(block, "path").(string); at(block, "type") == "diff" && !filepath.IsAbs(path) {
			c.problem("the diff of %q has no absolute path", path)
		}
	}
}

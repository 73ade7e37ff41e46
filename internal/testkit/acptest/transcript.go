package acptest

import (
	"fmt"
	"maps"
	"strings"
)

// Transcript renders the lines of a run so that they read like a conversation
// and are the same each time: one line a message, -> to the agent and <- from
// it. Ids become $ses1, $msg1, $call1 in the order in which they appear, times
// $time, directories $PROJECT and $HOME; durations are dropped. Pieces of one text,
// or of one command's output, which come as they come, are joined, and the end of a
// command shows its last content even where it was sent before.
//
// Left out are a config_option_update that no request has caused, for it tells of
// the server's list of models whenever that arrives, what is told of the sandbox
// once it is found, and the live cards of calls that spawned subagents, which come as
// they come. In the last one, numbers of tokens are $tokens, the time is $elapsed, and what
// came of a call that speaks of a path $result. What links a call to such a one is shown
// when it is opened; [Check] sees to it that every message has it.
func Transcript(lines []Line, names Names) string {
	r := &renderer{names: names, normal: newNormal(names), asked: map[string]string{}, agentAsked: map[string]string{}, shown: map[string]any{}}
	r.several, r.spawners = countSessions(lines) > 1, spawners(lines)
	for _, l := range lines {
		switch {
		case l.Message == nil:
			r.add(arrow(l)+"line "+string(encode(l.Raw)), "")
		case l.FromAgent:
			r.fromAgent(l.Message)
		default:
			r.fromClient(l.Message)
		}
	}
	var b strings.Builder
	for _, e := range r.entries {
		b.WriteString(r.normal.text(e.text()) + "\n")
	}
	return b.String()
}

// Names say what in a transcript differs from run to run.
type Names struct {
	Project, Home string
	// Show names what is shown whole: initialize, options, commands, usage,
	// permission.
	Show map[string]bool
}

func arrow(l Line) string {
	if l.FromAgent {
		return "<- "
	}
	return "-> "
}

func countSessions(lines []Line) int {
	ids := map[string]bool{}
	for _, l := range lines {
		if l.FromAgent && l.Message != nil && l.Message.IsResponse() {
			if id, _ := l.Message.Get("result.sessionId").(string); id != "" {
				ids[id] = true
			}
		}
	}
	return len(ids)
}

// entry is one line of a transcript; pieces of one text have the same key.
type entry struct {
	head, key, joined string
}

func (e entry) text() string {
	if e.joined == "" {
		return e.head
	}
	return e.head + " " + string(encode(e.joined))
}

type renderer struct {
	names   Names
	normal  *normal
	several bool
	// spawners are the calls that spawned subagents, by session and id.
	spawners map[string]bool
	entries  []entry
	asked    map[string]string // methods of the client's requests, by id
	// agentAsked are those of the agent's, and the number of each.
	agentAsked map[string]string
	shown      map[string]any // the latest output of the running calls
	last       string         // kind of the update before
}

func (r *renderer) add(head, key string) { r.entries = append(r.entries, entry{head: head, key: key}) }

// join adds a piece of text, to the entry before if that has the same key.
func (r *renderer) join(head, key, piece string) {
	if n := len(r.entries); n > 0 && r.entries[n-1].key == key {
		r.entries[n-1].joined += piece
		return
	}
	r.entries = append(r.entries, entry{head, key, piece})
}

// session is the name of a message's session, where there are several.
func (r *renderer) session(m *Message) string {
	if id := m.Session(); id != "" && (r.several || m.Method == methodUpdate && !r.normal.knows(id)) {
		return id + " "
	}
	return ""
}

func (r *renderer) fromClient(m *Message) {
	switch {
	case m.IsResponse():
		r.add("-> "+r.agentAsked[string(m.ID)]+" "+r.outcome(m), "")
	case m.Method == methodPrompt:
		r.asked[string(m.ID)] = m.Method
		r.add("-> "+r.session(m)+"prompt "+r.promptText(m), "")
	default:
		if m.ID != nil {
			r.asked[string(m.ID)] = m.Method
		}
		r.add("-> "+r.session(m)+m.Method+r.params(m), "")
	}
}

func (r *renderer) promptText(m *Message) string {
	blocks, _ := m.Get("prompt").([]any)
	if len(blocks) == 1 && at(blocks[0], "type") == "text" {
		return string(encode(at(blocks[0], "text")))
	}
	return string(encode(m.Get("prompt")))
}

// params are those of a message, less the session.
func (r *renderer) params(m *Message) string {
	params, ok := m.params().(map[string]any)
	if !ok {
		if m.Params == nil {
			return ""
		}
		return " " + string(m.Params)
	}
	if _, given := params["sessionId"]; given && r.normal.knows(m.Session()) {
		params = maps.Clone(params)
		delete(params, "sessionId")
	}
	if len(params) == 0 {
		return ""
	}
	return " " + r.json(params)
}

func (r *renderer) json(v any) string { return string(encode(r.normal.value(v))) }

func (r *renderer) outcome(m *Message) string {
	if m.Error == nil {
		return r.json(m.Get("result"))
	}
	text := fmt.Sprintf("error %d %s", m.Error.Code, encode(m.Error.Message))
	if m.Error.Data != nil {
		text += " " + r.json(m.Get("error.data"))
	}
	return text
}

package acptest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The agent's side of a transcript.

func (r *renderer) fromAgent(m *Message) {
	last := r.last
	r.last = ""
	switch {
	case m.IsResponse():
		r.response(m)
	case m.Method == methodUpdate:
		r.update(m, last)
	case m.IsRequest():
		method := strings.TrimPrefix(m.Method, "session/")
		r.agentAsked[string(m.ID)] = method
		if m.Method == methodPermission && !r.names.Show["permission"] {
			r.permission(m)
			return
		}
		r.add("<- "+r.session(m)+method+r.params(m), "")
	default:
		r.add("<- "+m.Method+" "+r.agentAsked[textOf(m.Get("requestId"))], "")
	}
}

func (r *renderer) response(m *Message) {
	method := r.asked[string(m.ID)]
	text := r.outcome(m)
	switch {
	case m.Error != nil:
	case method == methodInitialize && !r.names.Show["initialize"]:
		text = "ok"
	case method == methodNew:
		id, _ := m.Get("result.sessionId").(string)
		r.normal.learn(id)
		text = id
		if r.names.Show["options"] {
			text = r.json(m.Get("result"))
		}
	case method == "session/set_config_option" && !r.names.Show["options"]:
		text = r.json(current(m.Get("result.configOptions")))
	case method == methodPrompt:
		text = textOf(m.Get("result.stopReason"))
	}
	switch method {
	case "":
		method = "no request"
	case methodPrompt:
		method = "prompt"
	}
	r.add("<- "+method+": "+text, "")
}

// permission shortens a permission request: it keeps the options that say more
// than their kind.
func (r *renderer) permission(m *Message) {
	call, _ := m.Get("toolCall").(map[string]any)
	call = maps.Clone(call)
	id := textOf(call["toolCallId"])
	delete(call, "toolCallId")
	var offered []string
	options, _ := m.Get("options").([]any)
	for _, option := range options {
		text := textOf(at(option, "kind"))
		if text == "allow_always" {
			text += " " + string(encode(at(option, "name")))
		}
		offered = append(offered, text)
	}
	r.add(fmt.Sprintf("<- %srequest_permission %s [%s] %s", r.session(m), id, strings.Join(offered, ", "), r.json(call)), "")
}

// current is the values of config options by their ids.
func current(options any) any {
	values := map[string]any{}
	list, _ := options.([]any)
	for _, option := range list {
		values[textOf(at(option, "id"))] = at(option, "currentValue")
	}
	return values
}

func (r *renderer) update(m *Message, last string) {
	kind, members := m.Update()
	members = maps.Clone(members)
	delete(members, "sessionUpdate")
	r.last = kind
	head := "<- " + r.session(m) + kind
	call, _ := members["toolCallId"].(string)
	if kind == "tool_call_update" {
		members = withoutParent(members)
	}
	if r.spawners[m.Session()+" "+call] && members["status"] != "completed" && members["status"] != "failed" {
		delete(members, "content") // a live card, of whatever moment
		if len(members) == 1 {
			r.last = last
			return
		}
	}
	output, _ := outputOf(members)
	switch {
	case strings.HasSuffix(kind, "_message_chunk") || kind == "agent_thought_chunk":
		id, _ := members["messageId"].(string)
		if id != "" {
			head += " " + id
		}
		r.join(head, head+m.Session(), textOf(at(members, "content.text")))
	case kind == "available_commands_update" && !r.names.Show["commands"]:
		r.add(head, "") // a new command changes no other transcript
	case kind == "config_option_update" && last != "current_mode_update",
		aboutSandbox(m):
		r.last = last
	case kind == "config_option_update" && !r.names.Show["options"]:
		r.add(head+" "+r.json(current(members["configOptions"])), "")
	case kind == "tool_call_update" && output != "":
		r.join("<- "+r.session(m)+"output "+call, "output "+call, output)
	case kind == "tool_call_update" && len(members) == 2 && members["content"] != nil:
		// What a running command has printed, as much as there is.
		r.shown[call] = members["content"]
		if n := len(r.entries); r.entries[n-1].key != "output "+call {
			r.add("<- "+r.session(m)+"output "+call, "output "+call)
		}
	case call != "":
		delete(members, "toolCallId")
		if content := r.shown[call]; content != nil && members["rawOutput"] != nil && members["content"] == nil {
			members["content"] = content // how it ended, whenever it was sent
		}
		r.add(head+" "+call+" "+r.json(members), "")
	case kind == "usage_update" && !r.names.Show["usage"]:
		r.add(head, "")
	default:
		r.add(head+" "+r.json(members), "")
	}
}

// withoutParent takes the link to the call that spawned the subagent out of an update's
// members.
func withoutParent(members map[string]any) map[string]any {
	meta, _ := members["_meta"].(map[string]any)
	if parentOf(members) == "" {
		return members
	}
	members, meta = maps.Clone(members), maps.Clone(meta)
	if delete(meta, "claudeCode"); len(meta) == 0 {
		delete(members, "_meta")
	} else {
		members["_meta"] = meta
	}
	return members
}

// delegating are the tools that do nothing but delegate.
var delegating = []string{"task", "finder", "oracle", "librarian", "kraken"}

// spawners finds the calls that spawned subagents, by session and id: calls that others
// are linked to, and calls of tools that do nothing else.
func spawners(lines []Line) map[string]bool {
	found := map[string]bool{}
	for _, l := range lines {
		if !l.FromAgent || l.Message == nil || l.Message.Method != methodUpdate {
			continue
		}
		_, members := l.Message.Update()
		if parent := parentOf(members); parent != "" {
			found[l.Message.Session()+" "+parent] = true
		}
		if id, _ := members["toolCallId"].(string); slices.Contains(delegating, strings.ToLower(textOf(members["name"]))) {
			found[l.Message.Session()+" "+id] = true
		}
	}
	return found
}

// outputOf is the piece of output that an update carries, and nothing else.
func outputOf(members map[string]any) (text, id string) {
	meta, _ := members["_meta"].(map[string]any)
	if len(members) != 2 || len(meta) != 1 {
		return "", ""
	}
	for _, piece := range meta {
		text, _ = at(piece, "data").(string)
		id, _ = at(piece, "terminal_id").(string)
	}
	return text, id
}

// aboutSandbox reports an update that only tells how processes are confined, which comes
// whenever that is found out.
func aboutSandbox(m *Message) bool {
	kind, members := m.Update()
	return kind == "session_info_update" && len(members) == 2 && members["_meta"] != nil
}

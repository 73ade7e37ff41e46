package acptest

import (
	"maps"
	"slices"
	"strings"
)

// conversation is what a client shows of a session once all of its updates have come: a replay
// has to lead to the same as the turns did.
type conversation struct {
	prompts  []string // of the user, each the JSON of its blocks
	optional []string // prompts that did not end well, which need not be stored
	order    []string // ids of messages and calls of the main agent, as they first came
	texts    map[string]string
	calls    map[string]map[string]any
	output   map[string]string // of terminals of the agent's, by the call
	state    map[string]any    // the plan, the title, the usage, the mode
}

// fold folds what went over the wire about a session; a replay only where it is all that there is.
func fold(lines []Line, session string, replay bool) *conversation {
	c := &conversation{texts: map[string]string{}, calls: map[string]map[string]any{}, output: map[string]string{}, state: map[string]any{}}
	asked := map[string]*Message{}
	begins := map[string]int{} // how long order was when a prompt was sent
	var chunks []string        // the user's messages in a replay
	from, loading := "", ""    // the id of the last of them, and of a session/load that is not answered
	for _, l := range lines {
		m := l.Message
		switch {
		case m == nil:
		case !l.FromAgent && (m.Method == methodPrompt || m.Method == methodSteer) && m.Session() == session:
			asked[string(m.ID)], begins[string(m.ID)] = m, len(c.order)
		case !l.FromAgent && m.Method == methodLoad && m.Session() == session && !replay:
			loading = string(m.ID)
		case l.FromAgent && m.IsResponse():
			if loading == string(m.ID) {
				loading = ""
			}
			if prompt := asked[string(m.ID)]; prompt != nil {
				c.answered(prompt, m, begins[string(m.ID)])
				delete(asked, string(m.ID))
			}
			mode, ok := m.Get("result.modes.currentModeId").(string)
			if id, opened := m.Get("result.sessionId").(string); ok && (!opened || id == session) {
				c.state["mode"] = mode
			}
		case m.Method == methodUpdate && m.Session() == session && loading == "":
			kind, update := m.Update()
			if kind == "user_message_chunk" {
				if id, _ := update["messageId"].(string); id != from {
					from = id
					chunks = append(chunks, "")
				}
				chunks[len(chunks)-1] += string(encode(update["content"]))
				continue
			}
			c.update(kind, update)
		}
	}
	for _, prompt := range asked { // the agent was killed before its answer
		c.answered(prompt, &Message{}, 0)
	}
	c.prompts = append(c.prompts, chunks...)
	return c
}

// answered adds a prompt that has its answer. What a refusal takes back is gone.
func (c *conversation) answered(prompt, answer *Message, from int) {
	text := ""
	blocks, _ := prompt.Get("prompt").([]any)
	for _, block := range blocks {
		if at(block, "resource.blob") != nil { // the model has a link in its place
			return
		}
		text += string(encode(block))
	}
	reason, _ := answer.Get("result.stopReason").(string)
	if prompt.Method == methodSteer {
		reason, _ = answer.Get("result.outcome").(string)
	}
	switch reason {
	case "refusal":
		for _, id := range c.order[from:] {
			delete(c.texts, id)
			delete(c.calls, id)
		}
		c.order = c.order[:from]
	case "", "promptRequired", "cancelled":
		c.optional = append(c.optional, text)
	default:
		c.prompts = append(c.prompts, text)
	}
}

func (c *conversation) update(kind string, update map[string]any) {
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk":
		id, _ := update["messageId"].(string)
		text, _ := at(update, "content.text").(string)
		key := kind + " " + id
		if _, known := c.texts[key]; !known {
			c.order = append(c.order, key)
		}
		c.texts[key] += text
	case "tool_call", "tool_call_update":
		c.call(update)
	case "plan":
		delete(c.state, kind)
		if entries, _ := update["entries"].([]any); len(entries) > 0 { // an empty one is put away
			c.state[kind] = entries
		}
	case "usage_update":
		c.state[kind] = []any{update["used"], update["size"], update["cost"]}
	case "session_info_update":
		if title := update["title"]; title != nil {
			c.state["title"] = title
		}
	case "current_mode_update":
		c.state["mode"] = update["currentModeId"]
	}
}

// call merges an update of a tool call into what is known of it.
func (c *conversation) call(update map[string]any) {
	id, _ := update["toolCallId"].(string)
	call := c.calls[id]
	if call == nil {
		call = map[string]any{}
		c.calls[id] = call
		if at(update, "_meta.claudeCode") == nil {
			c.order = append(c.order, id)
		}
	}
	for _, name := range []string{"title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "name"} {
		list, isList := update[name].([]any)
		switch value := update[name]; {
		case isList && len(list) == 0:
			delete(call, name)
		case value != nil:
			call[name] = value
		}
	}
	for _, path := range []string{"terminal_output", "terminal_output_delta"} {
		if data, ok := at(update, "_meta."+path+".data").(string); ok {
			c.output[id] += data
		}
	}
	for _, path := range []string{"_meta.terminal_exit", "_meta.claudeCode"} {
		if value := at(update, path); value != nil {
			call[path] = value
		}
	}
}

// differs says how a replay shows other things than the turns did; nothing when it does not.
func (c *conversation) differs(replay *conversation) (problems []string) {
	say := func(what string, live, loaded any) {
		if a, b := string(encode(live)), string(encode(loaded)); a != b && !strings.Contains(b, "[redacted]") {
			problems = append(problems, what+"\n  live:   "+a+"\n  loaded: "+b)
		}
	}
	live := c.lasting(replay)
	order := slices.DeleteFunc(slices.Clone(replay.order), func(id string) bool { return c.calls[id] != nil && live.calls[id] == nil })
	say("the order of messages and calls", live.order, order)
	for _, id := range slices.Sorted(maps.Keys(live.texts)) {
		say(id, strings.TrimSpace(live.texts[id]), strings.TrimSpace(replay.texts[id]))
	}
	for _, id := range slices.Sorted(maps.Keys(live.calls)) {
		if hasPane(live.calls[id], id) {
			for _, call := range []map[string]any{live.calls[id], replay.calls[id]} {
				delete(call, "content")
				delete(call, "rawOutput")
			}
		}
		if isJob(live.calls[id]) { // what is stored is its call; how it ended stands in the messages
			for _, call := range []map[string]any{live.calls[id], replay.calls[id]} {
				for _, name := range []string{"content", "title", "_meta.terminal_exit"} {
					delete(call, name)
				}
				if data, ok := at(call, "rawOutput.data").(map[string]any); ok {
					delete(data, "ports")
				}
			}
			say("the call "+id, live.calls[id], replay.calls[id])
			continue
		}
		say("the call "+id, live.calls[id], replay.calls[id])
		say("the output of "+id, strings.TrimSpace(live.output[id]), strings.TrimSpace(replay.output[id]))
	}
	for _, id := range slices.Sorted(maps.Keys(replay.calls)) {
		if live.calls[id] == nil {
			say("the call "+id, nil, replay.calls[id])
		}
	}
	wanted := slices.Clone(replay.prompts)
	for _, prompt := range c.prompts {
		at := slices.Index(wanted, prompt)
		if at < 0 && c.hasUndo() {
			continue
		}
		if at < 0 {
			say("a prompt", prompt, nil)
			continue
		}
		wanted = slices.Delete(wanted, at, at+1)
	}
	for _, prompt := range wanted {
		if !slices.Contains(c.optional, prompt) && !strings.Contains(prompt, "binary content that") {
			say("a prompt", nil, prompt)
		}
	}
	if live.state["mode"] == "auto" { // which may wait for the sandbox
		delete(live.state, "mode")
		delete(replay.state, "mode")
	}
	say("the state of the session", live.state, replay.state)
	return problems
}

// momentary are the beginnings of what the agent writes into the chat because the client cannot show
// it in another way: notices, and what a permission request is about, which its card has.
var momentary = []string{"> ", "Trust `", "If you allow this", "Someone else has changed these files", "`"}

// undoneSuffix is what the agent's answer to an undo ends with: what was said before may be missing
// from a replay.
const undoneSuffix = "`/redo` takes this back."

// hasUndo reports whether something of the conversation was taken back.
func (c *conversation) hasUndo() bool {
	for _, text := range c.texts {
		if strings.Contains(text, undoneSuffix) {
			return true
		}
	}
	return false
}

// lasting is the conversation without what is momentary and without calls that the model made again.
// A call that had not ended is left out of the replay as well.
func (c *conversation) lasting(replay *conversation) *conversation {
	kept := *c
	kept.texts, kept.calls, kept.state, kept.order = maps.Clone(c.texts), maps.Clone(c.calls), maps.Clone(c.state), nil
	undone := c.hasUndo()
	for id, text := range c.texts {
		_, stored := replay.texts[id]
		begins := func(with string) bool { return strings.HasPrefix(strings.TrimSpace(text), with) }
		if !stored && (undone || slices.ContainsFunc(momentary, begins)) {
			delete(kept.texts, id)
		}
	}
	for id, call := range c.calls {
		cut := call["status"] == "failed" && strings.Contains(string(encode(call["content"])), "cut off before")
		ended := call["status"] == "completed" || call["status"] == "failed" // else the session was closed before
		if replay.calls[id] == nil && (cut || undone) || !ended {
			delete(kept.calls, id)
			delete(replay.calls, id)
		}
	}
	for _, id := range c.order {
		_, text := kept.texts[id]
		if text || kept.calls[id] != nil {
			kept.order = append(kept.order, id)
		}
	}
	return &kept
}

// isJob reports whether a call started a command in the background.
func isJob(call map[string]any) bool {
	return call["kind"] == "execute" && at(call, "rawInput.background") == true
}

// hasPane reports whether a terminal of the client's shows a call: what that holds is not the
// agent's to store.
func hasPane(call map[string]any, id string) bool {
	content, _ := call["content"].([]any)
	return len(content) > 0 && at(content[0], "type") == "terminal" && at(content[0], "terminalId") != id
}

package acptest

import (
	"slices"
	"strings"
)

// offers reports whether the client said that it can do something.
func (c *checker) offers(path string) bool {
	switch value := at(c.offered, path).(type) {
	case bool:
		return value
	case map[string]any:
		return true
	}
	return false
}

// request judges a request of the agent's: the client must have offered to
// serve it.
func (c *checker) request(m *Message) {
	needs := ""
	switch {
	case m.Method == methodReadFile:
		needs = "fs.readTextFile"
	case m.Method == methodWriteFile:
		needs = "fs.writeTextFile"
	case isTerminal(m.Method):
		needs = "terminal"
	case strings.HasPrefix(m.Method, methodElicitation):
		needs = "elicitation"
	}
	if needs != "" && !c.offers(needs) {
		c.problem("%s, although the client does not offer %s", m.Method, needs)
	}
	s := c.sessions[m.Session()]
	if s == nil {
		c.problem("%s for the session %q, which the client does not know", m.Method, m.Session())
		return
	}
	c.seen(s, m)
	if m.Method != methodPermission {
		return
	}
	id, _ := m.Get("toolCall.toolCallId").(string)
	if call := s.calls[id]; call == nil || call.final() {
		c.problem("permission was asked for the call %q, which is not open", id)
	} else if members, ok := m.Get("toolCall").(map[string]any); ok {
		c.absorbQuestion(call, members)
	}
	c.permissionOptions(m)
}

// permissionOptions allows one option of a kind, for clients pick by kind. One that shows
// names may be offered more after the standard ones.
func (c *checker) permissionOptions(m *Message) {
	seen := map[any]bool{}
	options, _ := m.Get("options").([]any)
	standard := []any{"allow", "allow_always", "reject", "reject_always"}
	if more := slices.IndexFunc(options, func(o any) bool { return !slices.Contains(standard, at(o, "optionId")) }); more >= 0 && c.rules().names {
		options = options[:more]
	}
	for _, option := range options {
		kind := at(option, "kind")
		if seen[kind] {
			c.problem("a permission request has two options of the kind %v", kind)
		}
		seen[kind] = true
	}
	if !seen["allow_once"] || !seen["reject_once"] {
		c.problem("a permission request lacks allow_once or reject_once")
	}
}

// offer judges updates that only some clients know.
func (c *checker) offer(kind string, members map[string]any) {
	needs := map[string]string{
		"notice": "session.notices", "compaction_update": "session.compaction", "compaction_summary_chunk": "session.compaction",
		"subagent_update": "subagents", "session_message": "subagents", "session_message_chunk": "subagents",
	}[kind]
	if needs != "" && !c.offers(needs) {
		c.problem("%s, although the client does not offer %s", kind, needs)
	}
	for _, key := range []string{"terminal_output", "terminal_output_delta"} {
		if at(members, "_meta."+key) != nil && !c.offers("_meta."+key) {
			c.problem("_meta.%s, although the client does not offer it", key)
		}
	}
}

// options judges a list of config options: each has a value that it offers, and
// none is of a kind that the client does not know.
func (c *checker) options(list any) {
	options, _ := list.([]any)
	for _, option := range options {
		id, current := at(option, "id"), at(option, "currentValue")
		if at(option, "type") == "boolean" {
			if !c.offers("session.configOptions.boolean") {
				c.problem("the config option %v is boolean, which the client does not offer", id)
			}
			continue
		}
		known := false
		values, _ := at(option, "options").([]any)
		for _, value := range values {
			known = known || at(value, "value") == current
			grouped, _ := at(value, "options").([]any)
			for _, value := range grouped {
				known = known || at(value, "value") == current
			}
		}
		if !known {
			c.problem("the config option %v has the value %v, which is not among its options", id, current)
		}
	}
}

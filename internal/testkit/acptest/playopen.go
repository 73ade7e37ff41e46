package acptest

import (
	"fmt"
	"strings"
)

// The statements of a script that open and steer sessions.

func (p *player) initialize(rest string) {
	p.tb.Helper()
	if p.user != nil {
		p.initializeAs(rest)
		return
	}
	if strings.HasPrefix(rest, "{") {
		p.call(methodInitialize, rest)
		return
	}
	capabilities, name := map[string]any{}, "script"
	for _, word := range strings.Fields(rest) {
		if editor, ok := strings.CutPrefix(word, "client="); ok {
			name = editor
			continue
		}
		if !offer(capabilities, word) {
			p.fatal("there is no capability %q", word)
		}
	}
	p.call(methodInitialize, map[string]any{
		"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": map[string]any{"name": name, "version": "1"},
	})
}

// offer adds a capability by its word.
func offer(to map[string]any, word string) bool {
	member := func(name string) map[string]any {
		object, _ := to[name].(map[string]any)
		if object == nil {
			object = map[string]any{}
			to[name] = object
		}
		return object
	}
	switch word {
	case "fs":
		return offer(to, "read") && offer(to, "write")
	case "read":
		member("fs")["readTextFile"] = true
	case "write":
		member("fs")["writeTextFile"] = true
	case "terminal":
		to["terminal"] = true
	case "terminal_output", "terminal_output_delta":
		member("_meta")[word] = true
	case "boolean":
		member("session")["configOptions"] = map[string]any{"boolean": map[string]any{}}
	case "notices", "compaction":
		member("session")[word] = map[string]any{}
	case "elicitation":
		member("elicitation")["form"] = map[string]any{}
	case "subagents":
		to["subagents"] = map[string]any{}
	case "auth":
		member("auth")["terminal"] = true
	default:
		return false
	}
	return true
}

func (p *player) authenticate(rest string) {
	p.tb.Helper()
	id, meta, _ := strings.Cut(rest, " ")
	if strings.HasPrefix(id, "{") {
		id, meta = "", rest
	}
	if id == "" {
		id = "api-key"
	}
	if meta == "" {
		p.call("authenticate", map[string]any{"methodId": id})
		return
	}
	p.call("authenticate", fmt.Sprintf(`{"methodId":%s,"_meta":%s}`, encode(id), meta))
}

func (p *player) newSession(rest string) {
	p.tb.Helper()
	var params any = rest
	if !strings.HasPrefix(rest, "{") {
		dir := p.dir
		if rest != "" {
			dir, _ = p.fileText(rest)
		}
		params = map[string]any{"cwd": dir, "mcpServers": []any{}}
	}
	m := p.call(methodNew, params)
	if m.Error != nil {
		return
	}
	id, _ := m.Get("result.sessionId").(string)
	p.session = &Session{Agent: p.Agent, ID: id, Opened: m}
	p.sessions = append(p.sessions, p.session)
}

func (p *player) setMode(id string) {
	p.tb.Helper()
	p.call("session/set_mode", map[string]any{"sessionId": p.session.ID, "modeId": id})
}

func (p *player) setOption(rest string) {
	p.tb.Helper()
	id, value, _ := strings.Cut(rest, " ")
	p.call("session/set_config_option", map[string]any{"sessionId": p.session.ID, "configId": id, "value": value})
}

func (p *player) request(rest string) {
	p.tb.Helper()
	method, params, _ := strings.Cut(rest, " ")
	p.call(method, orNone(params))
}

func (p *player) notify(rest string) {
	p.tb.Helper()
	method, params, _ := strings.Cut(rest, " ")
	p.Notify(method, orNone(params))
}

func orNone(params string) any {
	if params == "" {
		return nil
	}
	return params
}

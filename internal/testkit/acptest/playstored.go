package acptest

import (
	"encoding/json"
	"slices"
)

// The statements of a script that are about stored sessions.

// NextRecording is added to the name of a recording for that of the process after it.
const NextRecording = ".next"

// restart ends the agent, or kills it, and starts it anew over its home.
func (p *player) restart(how string) {
	p.tb.Helper()
	if how == "kill" {
		p.Agent.opts.Killed = true
	}
	p.Close()
	p.earlier = append(p.earlier, p.Lines()...)
	home, nextID := p.Home, p.nextID
	p.opts.Home = home
	if i := slices.Index(p.opts.Args, "--record"); i >= 0 { // a recording is of one process
		p.opts.Args = slices.Clone(p.opts.Args)
		p.opts.Args[i+1] += NextRecording
	}
	p.Agent = Start(p.tb, p.opts)
	p.nextID = nextID
	p.turns, p.open, p.formFrom = nil, nil, 0
	for _, s := range p.sessions {
		s.Agent = p.Agent
	}
	if client, _ := openedIn(p.earlier); client != "" {
		p.call(methodInitialize, client)
	}
}

// stored are the params of a request about the session that is spoken to.
func (p *player) stored() map[string]any {
	return map[string]any{"sessionId": p.session.ID, "cwd": p.dir, "mcpServers": []any{}}
}

func (p *player) load(string)   { p.call(methodLoad, p.stored()) }
func (p *player) resume(string) { p.call("session/resume", p.stored()) }

func (p *player) fork(meta string) {
	params := p.stored()
	if meta != "" {
		params["_meta"] = json.RawMessage(meta)
	}
	m := p.call("session/fork", params)
	if id, _ := m.Get("result.sessionId").(string); id != "" {
		p.session = &Session{Agent: p.Agent, ID: id, Opened: m}
		p.sessions = append(p.sessions, p.session)
	}
}

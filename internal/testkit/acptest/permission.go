package acptest

import "context"

// Permission is a permission request of the agent's.
type Permission struct {
	*Message
	agent *Agent
}

// Answer answers every permission request with the option of that kind, such as
// allow_once.
func Answer(kind string) func(*Permission) {
	return func(p *Permission) { p.Choose(kind) }
}

// Choose answers with the option of that kind, and reports whether there is
// one. Without one the request stays open.
func (p *Permission) Choose(kind string) bool {
	options, _ := p.Get("options").([]any)
	for _, option := range options {
		if at(option, "kind") == kind {
			id, _ := at(option, "optionId").(string)
			p.Select(id)
			return true
		}
	}
	return false
}

// Select answers with an option's id, whether or not it was offered.
func (p *Permission) Select(optionID string) {
	p.Reply(map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": optionID}})
}

// Dismiss answers that the user has cancelled the request.
func (p *Permission) Dismiss() {
	p.Reply(map[string]any{"outcome": map[string]any{"outcome": "cancelled"}})
}

// Reply answers with any result.
func (p *Permission) Reply(result any) { p.agent.reply(p.ID, result, nil) }

// Fail answers with an error, as a client does that cannot ask.
func (p *Permission) Fail(code int, message string) {
	p.agent.reply(p.ID, nil, &Failure{Code: code, Message: message})
}

// NextPermission waits for the next permission request, which stays open until
// it is answered. It is for agents without Options.Permission.
func (a *Agent) NextPermission() *Permission {
	a.tb.Helper()
	m, next := a.await(a.askedFrom, "a permission request", func(m *Message) bool { return m.Method == methodPermission })
	a.askedFrom = next
	return &Permission{Message: m, agent: a}
}

// serve answers a request of the agent's, or leaves it open.
func (a *Agent) serve(m *Message) {
	var handler func(context.Context, *Message) (any, *Failure)
	switch {
	case a.opts.Permission != nil && m.Method == methodPermission:
		a.served.Go(func() { a.opts.Permission(&Permission{Message: m, agent: a}) })
		return
	case a.opts.Files != nil && (m.Method == methodReadFile || m.Method == methodWriteFile):
		handler = a.opts.Files.serve
	case a.opts.Terminals != nil && isTerminal(m.Method):
		handler = a.opts.Terminals.serve
	default:
		return
	}
	a.served.Go(func() {
		result, failure := handler(a.ctx, m)
		if a.ctx.Err() == nil {
			a.reply(m.ID, result, failure)
		}
	})
}

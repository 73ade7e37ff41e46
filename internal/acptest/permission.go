package acptest

import (
	"context"
	"time"
)

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

// Dismiss answers that the person has cancelled the request.
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		a.mu.Lock()
		if a.claimed < len(a.asked) {
			p := a.asked[a.claimed]
			a.claimed++
			a.mu.Unlock()
			return p
		}
		more := a.announce
		a.mu.Unlock()
		select {
		case <-more:
		case <-a.ended():
			a.fatal("the agent ended without a permission request")
		case <-ctx.Done():
			a.fatal("no permission was asked for within %s", patience.Round(time.Second))
		}
	}
}

// ended is closed some time after the agent's output has ended.
func (a *Agent) ended() <-chan struct{} {
	done := make(chan struct{})
	_, more, ended := a.record.from(0)
	if ended {
		close(done)
		return done
	}
	a.served.Go(func() {
		for !ended {
			select {
			case <-more:
				_, more, ended = a.record.from(0)
			case <-a.ctx.Done():
				return
			}
		}
		close(done)
	})
	return done
}

// serve answers a request of the agent's, or leaves it open.
func (a *Agent) serve(m *Message) {
	if m.Method == methodPermission {
		p := &Permission{Message: m, agent: a}
		if a.opts.Permission != nil {
			a.served.Go(func() { a.opts.Permission(p) })
			return
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.asked = append(a.asked, p)
		close(a.announce)
		a.announce = make(chan struct{})
		return
	}
	var handler func(context.Context, *Message) (any, *Failure)
	switch {
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

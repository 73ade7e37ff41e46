package acptest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Write sends lines as they are, all in one write; each gets its newline.
func (a *Agent) Write(lines ...string) {
	a.tb.Helper()
	if err := a.write(lines...); err != nil {
		a.fatal("write to the agent: %v", err)
	}
}

// write records and sends lines. What is sent is recorded first, so that no
// answer stands before its request.
func (a *Agent) write(lines ...string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, line := range lines {
		m, err := Parse([]byte(line))
		if err != nil {
			m = nil // on purpose: the client may send what it likes
		}
		a.record.add(Line{At: time.Now(), Raw: line, Message: m})
	}
	_, err := a.stdin.Write([]byte(strings.Join(lines, "\n") + "\n"))
	return err
}

// Pending is a request of the client's.
type Pending struct {
	Agent  *Agent
	Method string
	id     string
	line   string
	at     int // of its line in the record, or before
}

// Prepare numbers a request without sending it; Line is to be written. The
// params are JSON text, or a value to be encoded, or nil for none.
func (a *Agent) Prepare(method string, params any) *Pending {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.nextID++
	p := &Pending{Agent: a, Method: method, id: fmt.Sprint(a.nextID)}
	p.line = line(p.id, method, params)
	lines, _, _ := a.record.from(0)
	p.at = len(lines)
	return p
}

// Line is the request as it goes over the wire.
func (p *Pending) Line() string { return p.line }

// Notification is a notification as it goes over the wire.
func Notification(method string, params any) string { return line("", method, params) }

func line(id, method string, params any) string {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0"`)
	if id != "" {
		fmt.Fprintf(&b, `,"id":%s`, id)
	}
	fmt.Fprintf(&b, `,"method":%s`, encode(method))
	switch params := params.(type) {
	case nil:
	case string:
		fmt.Fprintf(&b, `,"params":%s`, params)
	default:
		fmt.Fprintf(&b, `,"params":%s`, encode(params))
	}
	b.WriteString("}")
	return b.String()
}

// Request sends a request. The params are as those of Prepare.
func (a *Agent) Request(method string, params any) *Pending {
	a.tb.Helper()
	p := a.Prepare(method, params)
	a.Write(p.line)
	return p
}

// Notify sends a notification.
func (a *Agent) Notify(method string, params any) {
	a.tb.Helper()
	a.Write(Notification(method, params))
}

// TryRequest makes a request of an agent that may end meanwhile, and reports whether it was
// answered without an error.
func (a *Agent) TryRequest(method string, params any) bool {
	a.tb.Helper()
	p := a.Prepare(method, params)
	if a.write(p.line) != nil {
		return false
	}
	m, _, err := a.record.wait(a.opts.patience(), p.at, func(m *Message) bool { return m.IsResponse() && string(m.ID) == p.id })
	if errors.Is(err, errGaveUp) {
		a.hangs(fmt.Sprintf("%s (id %s) was not answered: %v", method, p.id, err))
	}
	return err == nil && m.Error == nil
}

// Wait returns the answer.
func (p *Pending) Wait() *Message {
	p.Agent.tb.Helper()
	m, _ := p.answer(p.Agent.opts.patience())
	return m
}

// WaitFor is Wait with a patience of its own, for what is silent for long.
func (p *Pending) WaitFor(patience time.Duration) *Message {
	p.Agent.tb.Helper()
	m, _ := p.answer(patience)
	return m
}

func (p *Pending) answer(patience time.Duration) (*Message, int) {
	a := p.Agent
	a.tb.Helper()
	m, next, err := a.record.wait(patience, p.at, func(m *Message) bool { return m.IsResponse() && string(m.ID) == p.id })
	switch what := fmt.Sprintf("%s (id %s) was not answered: %v", p.Method, p.id, err); {
	case errors.Is(err, errGaveUp):
		a.hangs(what)
	case err != nil:
		a.fatal("%s", what)
	}
	return m, next
}

// AnsweredAt is when the answer arrived; it waits for it.
func (p *Pending) AnsweredAt() time.Time {
	p.Agent.tb.Helper()
	_, next := p.answer(p.Agent.opts.patience())
	return p.Agent.Lines()[next-1].At
}

// Answered reports whether the answer is there.
func (p *Pending) Answered() bool {
	lines, _, _ := p.Agent.record.from(p.at)
	for _, l := range lines {
		if l.FromAgent && l.Message != nil && l.Message.IsResponse() && string(l.Message.ID) == p.id {
			return true
		}
	}
	return false
}

// Result returns the answer, which must be no error.
func (p *Pending) Result() *Message {
	p.Agent.tb.Helper()
	m := p.Wait()
	if m.Error != nil {
		p.Agent.fatal("%s failed: %d %s", p.Method, m.Error.Code, m.Error.Message)
	}
	return m
}

// Fails waits for an error with that code and text in its message.
func (p *Pending) Fails(code int, text string) *Message {
	p.Agent.tb.Helper()
	m := p.Wait()
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, text) {
		p.Agent.fatal("%s: got %s, want an error %d with %q", p.Method, outcome(m), code, text)
	}
	return m
}

func outcome(m *Message) string {
	if m.Error != nil {
		return fmt.Sprintf("the error %d %q", m.Error.Code, m.Error.Message)
	}
	return "the result " + string(m.Result)
}

// reply answers a request of the agent's; result is ignored when there is a
// failure. It may be called from any goroutine: that the agent is gone is no
// problem of the test's.
func (a *Agent) reply(id json.RawMessage, result any, failure *Failure) {
	member := "result"
	var value any = result
	if failure != nil {
		member, value = "error", failure
	}
	_ = a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"%s":%s}`, id, member, encode(value)))
}

package acptest

import "strings"

// Initialize opens the conversation with protocol version 1 and these client
// capabilities, as JSON; empty means {}.
func (a *Agent) Initialize(capabilities string) *Message {
	a.tb.Helper()
	if capabilities == "" {
		capabilities = "{}"
	}
	return a.Request(methodInitialize, `{"protocolVersion":1,"clientCapabilities":`+capabilities+`}`).Result()
}

// Session is a session of the agent's.
type Session struct {
	*Agent
	ID string
	// Opened is the answer to session/new.
	Opened *Message
}

// NewSession opens a session in a directory, and waits until its commands were
// announced.
func (a *Agent) NewSession(cwd string) *Session {
	a.tb.Helper()
	return a.OpenSession(map[string]any{"cwd": cwd, "mcpServers": []any{}})
}

// OpenSession is NewSession with these params.
func (a *Agent) OpenSession(params any) *Session {
	a.tb.Helper()
	p := a.Request(methodNew, params)
	m := p.Result()
	id, _ := m.Get("result.sessionId").(string)
	s := &Session{Agent: a, ID: id, Opened: m}
	s.await(p.at, "the commands of the session", func(m *Message) bool {
		kind, _ := m.Update()
		return kind == "available_commands_update" && m.Session() == id
	})
	return s
}

// Prompt sends a prompt of text and does not wait.
func (s *Session) Prompt(text string) *Turn {
	s.tb.Helper()
	t := s.PreparePrompt(text)
	s.Write(t.Line())
	return t
}

// PreparePrompt is Prompt without the sending.
func (s *Session) PreparePrompt(text string) *Turn {
	return &Turn{s.Prepare(methodPrompt, s.promptOf(map[string]any{"type": "text", "text": text})), s}
}

// PromptBlocks sends a prompt of blocks.
func (s *Session) PromptBlocks(blocks ...any) *Turn {
	s.tb.Helper()
	return &Turn{s.Request(methodPrompt, s.promptOf(blocks...)), s}
}

func (s *Session) promptOf(blocks ...any) any {
	return map[string]any{"sessionId": s.ID, "prompt": blocks}
}

// CancelLine is a session/cancel as it goes over the wire.
func (s *Session) CancelLine() string {
	return Notification(methodCancel, map[string]any{"sessionId": s.ID})
}

// Cancel sends session/cancel.
func (s *Session) Cancel() {
	s.tb.Helper()
	s.Write(s.CancelLine())
}

// CloseSession sends session/close and waits for the answer.
func (s *Session) CloseSession() *Message {
	s.tb.Helper()
	return s.Request(methodClose, map[string]any{"sessionId": s.ID}).Result()
}

// Turn is a prompt that was sent.
type Turn struct {
	*Pending
	Session *Session
}

// Ends waits for the end of the turn, which must have this stop reason.
func (t *Turn) Ends(reason string) *Message {
	t.Agent.tb.Helper()
	m := t.Wait()
	if got := m.Get("result.stopReason"); got != reason {
		t.Agent.fatal("the turn ended with %s, want %q", outcome(m), reason)
	}
	return m
}

// Expect waits for the next message of the agent that fits, after the one
// that the last Expect returned.
func (a *Agent) Expect(what string, fits func(*Message) bool) *Message {
	a.tb.Helper()
	m, next := a.await(a.cursor, what, fits)
	a.cursor = next
	return m
}

// Skip makes Expect begin after all lines so far.
func (a *Agent) Skip() { a.cursor = len(a.Lines()) }

func (a *Agent) await(from int, what string, fits func(*Message) bool) (*Message, int) {
	a.tb.Helper()
	m, next, err := a.record.wait(a.opts.patience(), from, fits)
	if err != nil {
		a.fatal("waiting for %s: %v", what, err)
	}
	return m, next
}

// Update fits session updates of that kind with the given members; their names
// may be paths, and a value that is a string need only be contained.
func Update(kind string, members ...string) func(*Message) bool {
	return func(m *Message) bool {
		got, update := m.Update()
		if got != kind {
			return false
		}
		for i := 0; i+1 < len(members); i += 2 {
			value := at(update, members[i])
			if value == nil || !strings.Contains(textOf(value), members[i+1]) {
				return false
			}
		}
		return true
	}
}

// Text is all that the agent has said in a session, thoughts left out.
func (s *Session) Text() string {
	var b strings.Builder
	for _, l := range s.Lines() {
		if !l.FromAgent || l.Message == nil || l.Message.Session() != s.ID {
			continue
		}
		if kind, update := l.Message.Update(); kind == "agent_message_chunk" {
			text, _ := at(update, "content.text").(string)
			b.WriteString(text)
		}
	}
	return b.String()
}

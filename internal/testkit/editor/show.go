package editor

import (
	"slices"

	"acp-agent/internal/testkit/acptest"
)

// Show feeds the lines of a run to an editor and returns what its user has seen, by
// session.
func Show(e Editor, lines []acptest.Line) map[string]*Screen {
	d := &desk{editor: e, screens: map[string]*Screen{}, asked: map[string]*acptest.Message{}, fromAgent: map[string]*acptest.Message{}}
	for _, l := range lines {
		switch {
		case l.Message == nil:
		case l.FromAgent:
			d.agentSays(l.Message)
		default:
			d.clientSays(l.Message)
		}
	}
	return d.screens
}

// desk is an editor at work. An editor that is nil is the protocol itself: everything is
// kept, and nothing but updates changes a card.
type desk struct {
	editor    Editor
	screens   map[string]*Screen
	asked     map[string]*acptest.Message // requests of the client
	fromAgent map[string]*acptest.Message // and of the agent
}

func (d *desk) screen(session string) *Screen {
	s := d.screens[session]
	if s == nil {
		s = &Screen{cards: map[string]*Card{}, Terminals: map[string]*Terminal{}, unheardCalls: map[string]bool{}, apart: d.editor == nil}
		d.screens[session] = s
	}
	return s
}

func (d *desk) clientSays(m *acptest.Message) {
	switch {
	case m.IsResponse():
		d.terminalAnswered(m)
	case m.IsRequest():
		d.asked[string(m.ID)] = m
		if m.Method == "session/prompt" {
			s := d.screen(m.Session())
			s.running++
			s.left = false
			s.Items = append(s.Items, &Item{Kind: Prompt, Text: encode(m.Get("prompt"))})
		}
	case m.Method == "session/cancel":
		s := d.screen(m.Session())
		s.left = s.running > 0 && d.editor == CodeCompanion
	}
}

func (d *desk) agentSays(m *acptest.Message) {
	switch {
	case m.IsResponse():
		if asked := d.asked[string(m.ID)]; asked != nil && asked.Method == "session/prompt" {
			s := d.screen(asked.Session())
			s.running--
			s.left = false
		}
	case m.IsRequest():
		d.fromAgent[string(m.ID)] = m
		if m.Method == "session/request_permission" {
			d.ask(m)
		}
	case m.Method == "session/update":
		kind, members := m.Update()
		d.update(d.screen(m.Session()), kind, members)
	}
}

// ignores reports whether the editor ignores a message now.
func (d *desk) ignores(s *Screen, kind string) bool {
	return d.editor != nil && (s.running == 0 || s.left) && d.editor.Drops(kind)
}

func (d *desk) update(s *Screen, kind string, members map[string]any) {
	if d.editor == nil || !d.ignores(s, kind) {
		d.show(s, kind, members)
		return
	}
	if s.left {
		s.unheardCalls[text(members["toolCallId"])] = true
		s.unheardText += text(dig(members, "content", "text"))
	}
}

func (d *desk) show(s *Screen, kind string, members map[string]any) {
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk":
		p, _ := block(members["content"])
		as := Text
		if kind == "agent_thought_chunk" {
			as = Thought
		}
		s.say(as, text(members["messageId"]), p.Text)
	case "tool_call":
		if info := dig(members, "_meta", "terminal_info"); info != nil {
			s.Terminals[text(dig(info, "terminal_id"))] = &Terminal{}
		}
		d.apply(s, members, Opened)
	case "tool_call_update":
		s.terminalSays(members)
		d.apply(s, members, Updated)
	case "plan":
		s.Plan = nil
		for _, entry := range list(members["entries"]) {
			s.Plan = append(s.Plan, text(dig(entry, "content")))
		}
	case "current_mode_update":
		s.Mode = text(members["currentModeId"])
	case "available_commands_update":
		s.Commands = nil
		for _, command := range list(members["availableCommands"]) {
			s.Commands = append(s.Commands, text(dig(command, "name")))
		}
	}
}

// apply finds the card, or adds one, and changes it.
func (d *desk) apply(s *Screen, call map[string]any, by Source) *Card {
	id := text(call["toolCallId"])
	c := s.cards[id]
	if c == nil {
		c = &Card{ID: id, Status: "pending"}
		s.cards[id] = c
		s.Items = append(s.Items, &Item{Kind: Tool, Card: c})
	}
	switch {
	case d.editor == nil && by != Asked:
		c.merge(call)
	case d.editor != nil:
		d.editor.Apply(s, c, call, by)
	}
	return c
}

// terminalSays reads the extension by which an agent describes terminals of its own.
func (s *Screen) terminalSays(members map[string]any) {
	if out := dig(members, "_meta", "terminal_output"); out != nil {
		if t := s.Terminals[text(dig(out, "terminal_id"))]; t != nil {
			t.Text += text(dig(out, "data"))
		}
	}
	if end := dig(members, "_meta", "terminal_exit"); end != nil {
		if t := s.Terminals[text(dig(end, "terminal_id"))]; t != nil {
			code, _ := dig(end, "exit_code").(float64)
			t.Exit, t.Ended = int(code), true
		}
	}
}

// terminalAnswered reads what a terminal of the client's has shown from its answers.
func (d *desk) terminalAnswered(m *acptest.Message) {
	asked := d.fromAgent[string(m.ID)]
	if asked == nil || m.Error != nil {
		return
	}
	s := d.screen(asked.Session())
	switch asked.Method {
	case "terminal/create":
		s.Terminals[text(m.Get("result.terminalId"))] = &Terminal{}
	case "terminal/output":
		if t := s.Terminals[text(asked.Get("terminalId"))]; t != nil {
			t.Text = text(m.Get("result.output"))
			code, _ := m.Get("result.exitStatus.exitCode").(float64)
			t.Exit, t.Ended = int(code), m.Get("result.exitStatus") != nil
		}
	}
}

// ask shows a permission request.
func (d *desk) ask(m *acptest.Message) {
	s := d.screen(m.Session())
	call, _ := m.Get("toolCall").(map[string]any)
	options := optionsOf(m.Get("options"))
	if d.editor == nil || d.ignores(s, m.Method) {
		s.Questions = append(s.Questions, &Question{Call: text(call["toolCallId"]), Dropped: d.editor != nil, options: options, call: call})
		return
	}
	c := d.apply(s, call, Asked)
	q := d.editor.Ask(s, c, call, slices.Clone(options))
	q.Call, q.options, q.call = c.ID, options, call
	q.look, q.said = d.editor.Look(s, c), flat(s.said())
	s.Questions = append(s.Questions, &q)
}

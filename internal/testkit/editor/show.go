package editor

import (
	"slices"

	"acp-agent/internal/testkit/acptest"
)

// Show feeds the lines of a run to an editor and returns what its user has seen, by
// session.
func Show(e Editor, lines []acptest.Line) map[string]*Screen {
	v := &viewer{editor: e, screens: map[string]*Screen{}, asked: map[string]*acptest.Message{}, fromAgent: map[string]*acptest.Message{}}
	for _, l := range lines {
		switch {
		case l.Message == nil:
		case l.FromAgent:
			v.agentSays(l.Message)
		default:
			v.clientSays(l.Message)
		}
	}
	return v.screens
}

// viewer shows a run in an editor. An editor that is nil stands for the protocol itself: everything is
// kept, and nothing but updates changes a card.
type viewer struct {
	editor    Editor
	screens   map[string]*Screen
	asked     map[string]*acptest.Message // requests of the client
	fromAgent map[string]*acptest.Message // and of the agent
}

func (v *viewer) screen(session string) *Screen {
	s := v.screens[session]
	if s == nil {
		s = &Screen{cards: map[string]*Card{}, Terminals: map[string]*Terminal{}, unheardCalls: map[string]bool{}, apart: v.editor == nil}
		v.screens[session] = s
	}
	return s
}

func (v *viewer) clientSays(m *acptest.Message) {
	switch {
	case m.IsResponse():
		v.terminalAnswered(m)
	case m.IsRequest():
		v.asked[string(m.ID)] = m
		if m.Method == "session/prompt" {
			s := v.screen(m.Session())
			s.running++
			s.stopped = false
			s.Items = append(s.Items, &Item{Kind: Prompt, Text: encode(m.Get("prompt"))})
		}
	case m.Method == "session/cancel":
		s := v.screen(m.Session())
		s.stopped = s.running > 0 && v.editor == CodeCompanion
	}
}

func (v *viewer) agentSays(m *acptest.Message) {
	switch {
	case m.IsResponse():
		if asked := v.asked[string(m.ID)]; asked != nil && asked.Method == "session/prompt" {
			s := v.screen(asked.Session())
			s.running--
			s.stopped = false
		}
	case m.IsRequest():
		v.fromAgent[string(m.ID)] = m
		if m.Method == "session/request_permission" {
			v.ask(m)
		}
	case m.Method == "session/update":
		kind, members := m.Update()
		v.update(v.screen(m.Session()), kind, members)
	}
}

// ignores reports whether the editor ignores a message now.
func (v *viewer) ignores(s *Screen, kind string) bool {
	return v.editor != nil && (s.running == 0 || s.stopped) && v.editor.Drops(kind)
}

func (v *viewer) update(s *Screen, kind string, members map[string]any) {
	if v.editor == nil || !v.ignores(s, kind) {
		v.show(s, kind, members)
		return
	}
	if s.stopped {
		s.unheardCalls[text(members["toolCallId"])] = true
		s.unheardText += text(dig(members, "content", "text"))
	}
}

func (v *viewer) show(s *Screen, kind string, members map[string]any) {
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
		v.apply(s, members, Opened)
	case "tool_call_update":
		s.terminalSays(members)
		v.apply(s, members, Updated)
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
func (v *viewer) apply(s *Screen, call map[string]any, by Source) *Card {
	id := text(call["toolCallId"])
	c := s.cards[id]
	if c == nil {
		c = &Card{ID: id, Status: "pending"}
		s.cards[id] = c
		s.Items = append(s.Items, &Item{Kind: Tool, Card: c})
	}
	switch {
	case v.editor == nil && by != Asked:
		c.merge(call)
	case v.editor != nil:
		v.editor.Apply(s, c, call, by)
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
func (v *viewer) terminalAnswered(m *acptest.Message) {
	asked := v.fromAgent[string(m.ID)]
	if asked == nil || m.Error != nil {
		return
	}
	s := v.screen(asked.Session())
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
func (v *viewer) ask(m *acptest.Message) {
	s := v.screen(m.Session())
	call, _ := m.Get("toolCall").(map[string]any)
	options := optionsOf(m.Get("options"))
	if v.editor == nil || v.ignores(s, m.Method) {
		s.Questions = append(s.Questions, &Question{Call: text(call["toolCallId"]), Dropped: v.editor != nil, options: options, call: call})
		return
	}
	c := v.apply(s, call, Asked)
	q := v.editor.Ask(s, c, call, slices.Clone(options))
	q.Call, q.options, q.call = c.ID, options, call
	q.look, q.chat = v.editor.Look(s, c), flat(s.chat())
	s.Questions = append(s.Questions, &q)
}

package editor

import "strings"

// AgentShell is agent-shell for Emacs. The content of a tool_call is not shown, only that
// of an update, which replaces the text before it where it has any; diffs are kept over
// the updates. A question shows the title and its diff, and the options with their names,
// "reject always" left out; a rejection also cancels the turn. Versions before autumn 2026
// drop what comes while no prompt runs; permission requests are shown at any time.
//
// Sources, xenodium/agent-shell: agent-shell.el at 538126a0 (on-notification, on-request,
// make-permission-actions), agent-shell-ui.el at 12176bd8; xenodium/acp.el at 4d7d58d
// (initialize). At 01f139e7 updates between turns are shown and forms are offered.
var AgentShell Editor = agentShell{}

type agentShell struct{}

func (agentShell) Name() string { return "agent-shell" }

func (agentShell) Params() string {
	return `{"protocolVersion":1,"clientInfo":{"name":"agent-shell","title":"Emacs Agent Shell","version":"0.1.0"},` +
		`"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`
}

func (agentShell) Drops(kind string) bool {
	switch kind {
	case "tool_call", "tool_call_update", "agent_message_chunk", "agent_thought_chunk":
		return true
	}
	return false
}

func (agentShell) Apply(_ *Screen, c *Card, call map[string]any, by Source) {
	before := c.Content
	c.merge(call)
	if title, ok := call["title"].(string); ok && title == "" {
		c.Title = title
	}
	for _, p := range parts(list(call["content"])) {
		if p.Kind == "diff" {
			c.Held = append(c.Held, p)
		}
	}
	if by == Updated {
		c.Kept, c.Held = append(c.Kept, c.Held...), nil
	}
	if by != Updated || !hasText(call["content"]) {
		c.Content = before // what the card's body shows
	}
}

// hasText reports whether an update has text for the card's body.
func hasText(content any) bool {
	for _, p := range parts(list(content)) {
		if p.Kind == "text" && strings.TrimSpace(p.Text) != "" {
			return true
		}
	}
	return false
}

func (agentShell) Look(_ *Screen, c *Card) View {
	v := View{Title: firstLine(c.Title), Parts: append([]Part{}, c.Kept...), Busy: c.busy()}
	for _, p := range parts(c.Content) {
		if p.Kind == "text" {
			v.Parts = append(v.Parts, p)
		}
	}
	return v
}

func (agentShell) Never(p Part) string {
	if p.Kind == "image" {
		return "only the text of a card's content is shown"
	}
	return ""
}

func (agentShell) Ask(_ *Screen, c *Card, call map[string]any, options []Option) Question {
	title := text(call["title"])
	if command := text(dig(c.Input, "command")); command != "" && !strings.Contains(title, command) {
		title = command
	}
	q := Question{Title: title, Names: true}
	for _, p := range parts(list(call["content"])) {
		if p.Kind == "diff" {
			q.Parts = []Part{p} // the first one has a button
			break
		}
	}
	for _, o := range options {
		if o.Kind != "reject_always" {
			q.Choices = append(q.Choices, Choice{Label: o.Name, Presses: o, Sends: o, EndsTurn: o.Kind == "reject_once"})
		}
	}
	return q
}

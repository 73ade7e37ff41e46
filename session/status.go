package session

import (
	"context"
	"fmt"
	"strings"

	"acp-agent/kinds"
)

// help is /help. The list of commands is made of the table.
func (s *Session) help(ctx context.Context) string {
	s.sources.refresh(ctx)
	var b strings.Builder
	b.WriteString("**Commands**\n\n")
	for _, c := range s.Commands() {
		fmt.Fprintf(&b, "- `/%s`: %s\n", c.Name, c.Description)
	}
	b.WriteString("\n**Modes**\n\n")
	for _, m := range s.Modes() {
		fmt.Fprintf(&b, "- %s: %s\n", m.Name, m.Description)
	}
	b.WriteString("\n**Tools**\n\n")
	for _, tool := range s.agents.tools.Listed() {
		_, card := s.agents.tools.Label(tool.Name)
		fmt.Fprintf(&b, "- `%s` (%s)\n", tool.Name, card.Kind)
	}
	return b.String()
}

// status is /status.
func (s *Session) status() string {
	chosen := s.choices.get()
	usage, context := s.conversation.account.now()
	var b strings.Builder
	fmt.Fprintf(&b, "- Model: `%s`", chosen.model)
	if chosen.thought != "" {
		fmt.Fprintf(&b, ", thinking %s", chosen.thought)
	}
	if server := s.choices.lastBackend().Server; server != "" {
		fmt.Fprintf(&b, "\n- Server: %s", server)
	}
	fmt.Fprintf(&b, "\n- Mode: %s\n- Directory: `%s`\n", chosen.mode, s.work.Session().Cwd)
	for _, dir := range s.work.Session().Roots[1:] {
		fmt.Fprintf(&b, "- Also: `%s`\n", dir)
	}
	if report, known := s.Sandbox(); known {
		fmt.Fprintf(&b, "- Sandbox: %s\n", report)
	} else {
		b.WriteString("- Sandbox: not known yet\n")
	}
	if context.Size > 0 {
		fmt.Fprintf(&b, "- Context: %d of %d tokens\n", context.Used, context.Size)
	} else if context.Used > 0 {
		fmt.Fprintf(&b, "- Context: %d tokens; the window of this model is not known, set `model.window` in the configuration\n", context.Used)
	}
	fmt.Fprintf(&b, "- Used so far: %d tokens in, %d cached, %d out, %d reasoning\n",
		usage.Input, usage.CacheRead, usage.Output, usage.Reasoning)
	for _, notice := range s.notices().standing() {
		fmt.Fprintf(&b, "- %s: %s\n", notice.Title, kinds.Code(notice.Text, 2*lineRunes))
	}
	return b.String()
}

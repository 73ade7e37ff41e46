package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/transcript"
)

// Command is a slash command: text that the person types and the agent answers
// itself, without the model (R158).
type Command struct {
	// Name has no slash.
	Name, Description string
	// Hint says what may follow the name; empty when nothing may.
	Hint string
}

// Commands lists the slash commands.
func (s *Session) Commands() []Command {
	list := []Command{
		{Name: "help", Description: "What this agent can do: its commands, modes and tools."},
		{Name: "status", Description: "Model, mode, directories, and how full the context is."},
		{Name: "tasks", Description: "The subagents of this session: what they do, what they spent; stops them.", Hint: tasksForms},
		{Name: "usage", Description: "What this session has spent: the agent, each subagent, and their budgets."},
		{Name: "summary", Description: "Sums up what was asked and done in this session."},
		{Name: "permissions", Description: "The rules in force; takes back what you allowed.", Hint: s.permissionsForms()},
		{Name: "trust", Description: "Shows what trust in this project allows, and asks you.", Hint: "off"},
	}
	if s.hasServers() {
		list = append(list, Command{Name: "mcp", Description: "The MCP servers: how each stands, its tools, its last error; signs in to one.", Hint: serversForms})
	}
	return list
}

// command answers a prompt that is a slash command. Text that merely begins
// with a slash, such as a path, is not one.
func (s *Session) command(prompt *transcript.Message) (answer func(context.Context) string, ok bool) {
	words := strings.Fields(prompt.Text())
	if len(words) == 0 {
		return nil, false
	}
	switch words[0] {
	case "/help":
		return func(context.Context) string { return s.help() }, true
	case "/status":
		return func(context.Context) string { return s.status() }, true
	case "/tasks":
		return func(context.Context) string { return s.tasksCommand(words[1:]) }, true
	case "/usage":
		return func(context.Context) string { return s.usageText() }, true
	case "/mcp":
		return func(ctx context.Context) string { return s.serversCommand(ctx, behind(prompt.Text(), words[0])) }, true
	case "/summary":
		return s.summaryCommand, true
	case "/permissions":
		return func(ctx context.Context) string { return s.permissionsCommand(ctx, behind(prompt.Text(), words[0])) }, true
	case "/trust":
		return func(ctx context.Context) string { return s.trustCommand(ctx, words[1:]) }, true
	}
	return nil, false
}

// atOnce reports the commands that are answered while a turn runs, too: they have no
// part in the conversation, and the person wants to know now.
func atOnce(prompt *transcript.Message) bool {
	words := strings.Fields(prompt.Text())
	if len(words) > 1 && words[0] == "/mcp" {
		return false // it may wait for the person
	}
	return len(words) > 0 && slices.Contains([]string{"/status", "/tasks", "/usage", "/mcp"}, words[0])
}

// behind is what follows a word at the start of a text, as it was typed.
func behind(text, word string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), word))
}

// reply says something in the agent's name. Neither the command nor the answer
// is part of what the model sees.
func (s *Session) reply(ctx context.Context, prompt *transcript.Message, answer func(context.Context) string) {
	turn := s.host.IDs.New(transcript.TurnPrefix)
	s.emit(transcript.TurnStarted{TurnID: turn, MessageID: prompt.ID, At: time.Now()})
	s.say(answer(ctx))
	s.emit(transcript.TurnFinished{TurnID: turn, Reason: "finish"})
}

// replyBeside is reply while another turn runs. It is one event without a turn of its
// own, whose end would be taken for the end of the other.
func (s *Session) replyBeside(t *Turn, answer func(context.Context) string) {
	defer func() {
		if v := recover(); v != nil { // it ends this prompt, not the process
			s.host.Logger.Error("command panicked", "session", s.ID, "stack", string(debug.Stack()))
			t.end("", fmt.Errorf("the command failed inside the agent: %v", v))
		}
	}()
	s.emit(transcript.AgentSaid{Message: &transcript.Message{
		ID: s.host.IDs.New(transcript.MessagePrefix), Role: transcript.Assistant, Created: time.Now(), Synthetic: true, Finished: true,
		Parts: []transcript.Part{&transcript.TextPart{ID: s.host.IDs.New(transcript.PartPrefix), Text: answer(t.ctx), Synthetic: true}},
	}})
	t.end(loop.EndTurn, nil)
}

func (s *Session) help() string {
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
	for _, tool := range s.tools.Catalog() {
		fmt.Fprintf(&b, "- `%s` (%s)\n", tool.Name, kinds.Of(tool.Name))
	}
	return b.String()
}

func (s *Session) status() string {
	chosen := s.chosen()
	s.mu.Lock()
	usage, context := s.usage.tokens, s.context
	s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "- Model: `%s`", chosen.model)
	if chosen.thought != "" {
		fmt.Fprintf(&b, ", thinking %s", chosen.thought)
	}
	fmt.Fprintf(&b, "\n- Mode: %s\n- Directory: `%s`\n", chosen.mode, s.work.Session().Cwd)
	for _, dir := range s.additional() {
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
		fmt.Fprintf(&b, "- Context: %d tokens, window unknown\n", context.Used)
	}
	fmt.Fprintf(&b, "- Used so far: %d tokens in, %d cached, %d out, %d reasoning\n",
		usage.Input, usage.CacheRead, usage.Output, usage.Reasoning)
	return b.String()
}

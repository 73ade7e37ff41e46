package session

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/transcript"
)

// Command is a slash command: text that the person types and the agent answers
// itself, without the model, or has an MCP server make a prompt of (R158).
type Command struct {
	// Name has no slash.
	Name, Description string
	// Hint says what may follow the name; empty when nothing may.
	Hint string
}

// slash is a slash command and what it does.
type slash struct {
	Command
	// beside reports whether it is answered while a turn runs, too, with that behind its
	// name: it has no part in the conversation, and the person wants to know now. nil means
	// never.
	beside func(rest string) bool
	// listed reports whether editors are told of it, and nil that they are; it works in any case.
	listed func() bool
	// answer is the agent's, to what was typed behind the name.
	answer func(ctx context.Context, rest string) string
}

// slashes are all slash commands of the agent itself, in the order in which they are listed.
func (s *Session) slashes() []slash {
	return []slash{
		{
			Command: Command{Name: "help", Description: "What this agent can do: its commands, modes and tools."},
			answer:  func(ctx context.Context, _ string) string { return s.help(ctx) },
		},
		{
			Command: Command{Name: "status", Description: "Model, mode, directories, and how full the context is."},
			beside:  always, answer: plainly(s.status),
		},
		{
			Command: Command{Name: "tasks", Description: "The subagents of this session: what they do, what they spent; stops them.", Hint: tasksForms},
			beside:  always, answer: func(_ context.Context, rest string) string { return s.tasksCommand(strings.Fields(rest)) },
		},
		{
			Command: Command{Name: "usage", Description: "What this session has spent: the agent, each subagent, and their budgets."},
			beside:  always, answer: plainly(s.usageText),
		},
		{
			Command: Command{Name: "summary", Description: "Sums up what was asked and done in this session."},
			answer:  func(ctx context.Context, _ string) string { return s.summaryCommand(ctx) },
		},
		{
			Command: Command{Name: "clear", Description: "Begins a new conversation: the model forgets what was said; files, mode and rules stay."},
			answer:  plainly(s.clear),
		},
		{
			Command: Command{Name: "permissions", Description: "The rules in force; takes back what you allowed, or keeps it for the project.", Hint: s.permissionsForms()},
			beside:  changesRule, answer: s.permissionsCommand,
		},
		{
			Command: Command{Name: "trust", Description: "Shows what trust in this project allows, and asks you.", Hint: "off"},
			answer:  func(ctx context.Context, rest string) string { return s.trustCommand(ctx, strings.Fields(rest)) },
		},
		{
			Command: Command{Name: "mcp", Description: "The MCP servers: how each stands, its tools, its last error; signs in to one.", Hint: serversForms},
			beside:  func(rest string) bool { return rest == "" }, // what follows waits for the person
			listed:  s.hasServers, answer: s.serversCommand,
		},
		{
			Command: Command{Name: "providers", Description: "External providers, scripts and modules: how each stands, its tools, its last error."},
			beside:  always, listed: s.hasProviders, answer: func(ctx context.Context, _ string) string { return s.providersText(ctx) },
		},
	}
}

func always(string) bool { return true }

// changesRule reports whether /permissions takes a rule away or keeps it, which is answered
// while a turn runs, too: the user may have been asked in it. The list brings the tools up to
// date, which may only happen between requests.
func changesRule(rest string) bool {
	words := strings.Fields(rest)
	return len(words) > 0 && (words[0] == "keep" || words[0] == "revoke")
}

// plainly is an answer that nothing behind the name changes.
func plainly(text func() string) func(context.Context, string) string {
	return func(context.Context, string) string { return text() }
}

// Commands lists the slash commands, those of MCP servers last.
func (s *Session) Commands() []Command {
	var list []Command
	for _, known := range s.slashes() {
		if known.listed == nil || known.listed() {
			list = append(list, known.Command)
		}
	}
	for _, prompt := range s.servers.Prompts() {
		list = append(list, Command{Name: prompt.Command, Description: prompt.Description, Hint: prompt.Hint()})
	}
	return list
}

// command is the answer to a prompt that is a slash command, and whether it is given while
// a turn runs, too. Text that merely begins with a slash, such as a path, is none.
func (s *Session) command(prompt *transcript.Message) (answer func(context.Context) string, beside, ok bool) {
	for _, text := range commandTexts(prompt) {
		name, rest, ok := typed(text)
		if !ok {
			continue
		}
		list := s.slashes()
		at := slices.IndexFunc(list, func(known slash) bool { return known.Name == name })
		if at < 0 {
			continue
		}
		known := list[at]
		return func(ctx context.Context) string { return known.answer(ctx, rest) }, known.beside != nil && known.beside(rest), true
	}
	return nil, false, false
}

// commandTexts are the texts of a prompt that may be a command. After a cancel a client may
// send the text that was cancelled again, before the new one, in a block of its own: then
// the last block of text alone is the command, when that is one line which begins with the
// slash. Text that goes on after a mention does not begin so.
func commandTexts(prompt *transcript.Message) []string {
	var blocks []string
	for _, part := range prompt.Parts {
		if text, ok := part.(*transcript.TextPart); ok {
			blocks = append(blocks, text.Text)
		}
	}
	whole := strings.Join(blocks, "")
	if len(blocks) < 2 {
		return []string{whole}
	}
	last := blocks[len(blocks)-1]
	if !strings.HasPrefix(last, "/") || strings.Contains(strings.TrimSpace(last), "\n") {
		return []string{whole}
	}
	return []string{last, whole}
}

// typed takes a text apart that begins like a slash command: the name, and what was typed
// behind it.
func typed(text string) (name, rest string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") {
		return "", "", false
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	return text[1:end], strings.TrimSpace(text[end:]), true
}

// reply says something in the agent's name. Neither the command nor the answer
// is part of what the model sees.
func (s *Session) reply(ctx context.Context, prompt *transcript.Message, answer func(context.Context) string) {
	turn := s.host.IDs.New(transcript.TurnPrefix)
	s.emit(transcript.TurnStarted{TurnID: turn, MessageID: prompt.ID, At: time.Now()})
	s.say(answer(ctx))
	s.emit(transcript.TurnFinished{TurnID: turn, Reason: "finish"})
}

// replyDuring is reply while another turn runs. It is one event without a turn of its
// own, whose end would be taken for the end of the other.
func (s *Session) replyDuring(ctx context.Context, answer func(context.Context) string) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil { // it ends this prompt, not the process
			s.host.Logger.Error("command panicked", "session", s.ID, "stack", string(debug.Stack()))
			stop, err = "", fmt.Errorf("the command failed inside the agent: %v", v)
		}
	}()
	s.remark(answer(ctx))
	return loop.EndTurn, nil
}

func (s *Session) help(ctx context.Context) string {
	s.refreshTools(ctx)
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
	for _, tool := range s.tools.Listed() {
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
	if server := s.lastBackend().Server; server != "" {
		fmt.Fprintf(&b, "\n- Server: %s", server)
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
		fmt.Fprintf(&b, "- Context: %d tokens; the window of this model is not known, set `model.window` in the configuration\n", context.Used)
	}
	fmt.Fprintf(&b, "- Used so far: %d tokens in, %d cached, %d out, %d reasoning\n",
		usage.Input, usage.CacheRead, usage.Output, usage.Reasoning)
	for _, notice := range s.standing() {
		fmt.Fprintf(&b, "- %s: %s\n", notice.Title, kinds.Code(notice.Text, 2*lineRunes))
	}
	return b.String()
}

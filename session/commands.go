package session

import (
	"context"
	"slices"
	"strings"

	"acp-agent/transcript"
)

// Command is a slash command as editors list it: text that the user types and the agent
// answers itself, without the model, or of which a file or an MCP server makes a
// prompt (R158).
type Command struct {
	// Name has no slash.
	Name, Description string
	// Hint says what may follow the name; empty when nothing may.
	Hint string
}

// slashCommand is one slash command of the agent itself. The list that editors show, the
// dispatch of prompts and /help are made from these entries.
type slashCommand struct {
	name, description string
	// hint says what may follow the name; nil means nothing.
	hint func(s *Session) string
	// during reports whether the command, with rest after its name, is answered while a turn
	// runs, because the user wants the answer now and the conversation does not depend on it. nil
	// means never.
	during func(rest string) bool
	// listed reports whether editors list the command; nil means always. Typed, it works in any
	// case.
	listed func(s *Session) bool
	// outside says that the command reaches outside of the session, so that a replay does not run
	// it. varies says that its answer depends on the moment. performer.go acts on both.
	outside, varies bool
	// answer returns the agent's answer to the command with rest after its name.
	answer func(ctx context.Context, s *Session, rest string) string
}

// slashCommands are all slash commands of the agent itself, in the order in which editors
// list them. Commands from files are in custom.go, commands of MCP servers in server_prompts.go.
func slashCommands() []slashCommand {
	return []slashCommand{
		{
			name: "help", description: "What this agent can do: its commands, modes and tools.",
			varies: true,
			answer: func(ctx context.Context, s *Session, _ string) string {
				s.sources.refresh(ctx)
				return helpText(s.Commands(), s.Modes(), s.agents.tools)
			},
		},
		{
			name: "status", description: "Model, mode, directories, and how full the context is.",
			varies: true,
			during: always,
			answer: func(_ context.Context, s *Session, _ string) string {
				return statusText(s.choices, s.conversation.account, s.work.Session(), s.startupNotices().standing())
			},
		},
		{
			name: "why", description: "What the session waits for at this moment, and for how long.",
			varies: true,
			during: always,
			answer: func(_ context.Context, s *Session, _ string) string {
				return whyText(s.turns, s.conversation, s.Servers(), s.choices.get().queue)
			},
		},
		{
			name: "tasks", description: "The subagents of this session: what they do, what they spent; stops them.",
			varies: true,
			hint:   fixed(tasksForms),
			during: always,
			answer: func(_ context.Context, s *Session, rest string) string {
				return tasksCommand(s.agents.tree, strings.Fields(rest))
			},
		},
		{
			name: "jobs", description: "The commands in the background of this session: how each stands; stops them; opens their ports.",
			varies: true,
			hint:   fixed(jobsForms),
			during: always,
			answer: func(_ context.Context, s *Session, rest string) string {
				return s.assembler.jobs.command(strings.Fields(rest))
			},
		},
		{
			name: "usage", description: "What this session has spent: the agent, each subagent, and their budgets.",
			varies: true,
			during: always,
			answer: func(_ context.Context, s *Session, _ string) string { return s.conversation.account.text() },
		},
		{
			name: "summary", description: "Sums up what was asked and done in this session.",
			answer: func(ctx context.Context, s *Session, _ string) string { return summaryCommand(ctx, s.assembler) },
		},
		{
			name: "compact", description: "Sums up the conversation for the model, so that it has room again; the conversation stays.",
			hint: fixed("what to keep in particular"),
			answer: func(ctx context.Context, s *Session, rest string) string {
				return compactCommand(ctx, s.assembler, rest)
			},
		},
		{
			name: "clear", description: "Begins a new conversation: the model forgets what was said; files, mode and rules stay.",
			answer: func(_ context.Context, s *Session, _ string) string { return s.conversation.clear() },
		},
		{
			name: "undo", description: "Takes back your last message, or the last n: what it changed in files, and the conversation since.",
			outside: true,
			hint:    fixed("[n]"),
			answer:  func(ctx context.Context, s *Session, rest string) string { return s.checkpoints.undo(ctx, rest) },
		},
		{
			name: "redo", description: "Takes the last undo back.",
			outside: true,
			answer:  func(ctx context.Context, s *Session, _ string) string { return s.checkpoints.redo(ctx) },
		},
		{
			name: "checkpoints", description: "Your messages that can be taken back, with what each changed.",
			outside: true,
			answer:  func(_ context.Context, s *Session, _ string) string { return s.checkpoints.text() },
		},
		{
			name: "rewind", description: "Takes back everything since one of your messages, that message included.",
			outside: true,
			hint:    fixed("NUMBER"),
			answer:  func(ctx context.Context, s *Session, rest string) string { return s.checkpoints.rewind(ctx, rest) },
		},
		{
			name: "title", description: "Shows the title of this session, or changes it.",
			hint:   fixed("TITLE"),
			during: always,
			answer: func(_ context.Context, s *Session, rest string) string { return s.conversation.naming.command(rest) },
		},
		{
			name: "model", description: "Lists the models, or switches to one of them.",
			hint:   fixed("MODEL"),
			during: always,
			answer: func(_ context.Context, s *Session, rest string) string {
				return modelCommand(s.Options(), s.SetOption, s.conversation.emit, rest)
			},
		},
		{
			name: "fork", description: "Stores a copy of this conversation, which goes on as a session of its own.",
			outside: true,
			answer: func(_ context.Context, s *Session, _ string) string {
				return forkCommand(s.host, s.ID, s.conversation.log)
			},
		},
		{
			name: "export", description: "Writes this conversation to a file: Markdown, JSON lines or an HTML page.",
			outside: true,
			hint:    fixed(exportForms),
			answer: func(ctx context.Context, s *Session, rest string) string {
				return exportCommand(ctx, s.opened, s.conversation, rest)
			},
		},
		{
			name: "permissions", description: "The rules in force, with your answers; takes one back, or keeps it for the project.",
			outside: true,
			hint:    func(s *Session) string { return permissionsForms(s.host.Explain != nil) },
			during:  changesRule,
			answer: func(ctx context.Context, s *Session, rest string) string {
				if what, ok := toExplain(rest); ok && s.host.Explain != nil {
					return s.host.Explain(ctx, s, what)
				}
				return permissionsCommand(ctx, s.rules, s.sources, s.host.Explain != nil, rest)
			},
		},
		{
			name: "trust", description: "Shows what trust in this project allows, and asks you.",
			outside: true,
			hint:    fixed("off"),
			answer: func(ctx context.Context, s *Session, rest string) string {
				return trustCommand(ctx, s.rules.project, s.performer, strings.Fields(rest))
			},
		},
		{
			name: "mcp", description: "The MCP servers: how each stands, its tools, its last error; signs in to one.",
			outside: true,
			hint:    fixed(serversForms),
			during:  func(rest string) bool { return rest == "" }, // a sign-in waits for the user
			listed:  func(s *Session) bool { return s.sources.servers.configured() },
			answer: func(ctx context.Context, s *Session, rest string) string {
				if rest == "" {
					s.sources.awaitForOnlyPrompt(ctx)
				}
				return s.sources.servers.command(ctx, rest)
			},
		},
		{
			name: "providers", description: "External providers, scripts and modules: how each stands, its tools, its last error.",
			outside: true,
			during:  always,
			listed:  func(s *Session) bool { return s.sources.hasProviders() },
			answer:  func(ctx context.Context, s *Session, _ string) string { return s.sources.providersText(ctx) },
		},
	}
}

func always(string) bool { return true }

func fixed(hint string) func(*Session) string { return func(*Session) string { return hint } }

// changesRule reports whether /permissions takes a rule away or keeps it, which is answered
// while a turn runs, too: the user may have been asked in it. The list brings the tools up to
// date, which may only happen between requests.
func changesRule(rest string) bool {
	words := strings.Fields(rest)
	return len(words) > 0 && (words[0] == "keep" || words[0] == "revoke")
}

// Commands lists the slash commands: the agent's own, those from files, those of MCP servers.
func (s *Session) Commands() []Command {
	var list []Command
	for _, c := range slashCommands() {
		if c.listed != nil && !c.listed(s) {
			continue
		}
		entry := Command{Name: c.name, Description: c.description}
		if c.hint != nil {
			entry.Hint = c.hint(s)
		}
		list = append(list, entry)
	}
	return append(list, s.prompts.commands()...)
}

// answer returns the answer of a command.
func (s *Session) answer(ctx context.Context, c typedCommand) string {
	return s.performer.answer(ctx, c, func() string { return c.answer(ctx, s, c.rest) })
}

// typedCommand is a slash command with what was typed after its name.
type typedCommand struct {
	slashCommand
	rest string
}

// isDuring reports whether the command is answered while a turn runs.
func (c typedCommand) isDuring() bool { return c.during != nil && c.during(c.rest) }

// commandOf returns the slash command of the agent itself that a prompt is. Text that merely begins
// with a slash, such as a path, is not a command.
func commandOf(prompt *transcript.Message) (c typedCommand, ok bool) {
	list := slashCommands()
	for _, text := range commandTexts(prompt) {
		name, rest, ok := typed(text)
		if !ok {
			continue
		}
		if at := slices.IndexFunc(list, func(c slashCommand) bool { return c.name == name }); at >= 0 {
			return typedCommand{list[at], rest}, true
		}
	}
	return c, false
}

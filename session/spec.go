package session

import (
	"time"

	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
	"acp-agent/workspace/run"
)

// Spec is what a client asks of a new session.
type Spec struct {
	// Cwd is the directory of the session, Additional are further ones.
	Cwd        string
	Additional []string
	// Agent names the agent that the user talks to; empty means that of the settings.
	Agent string
	// Rules are of this session alone, as if the user had answered "always".
	Rules []permissions.Rule
	// Servers are the MCP servers that the client wants connected.
	Servers []mcp.Server
	// Replay shows a message of a stored conversation as it is read; nil shows none.
	Replay func(*transcript.Message)
	Client
	Unattended
}

// Client is how a session reaches the client and the user in front of it.
type Client struct {
	// Sink receives the session's events.
	Sink transcript.Sink
	// Asker puts permission requests to the user; nil means that no user is there, and every
	// ask is a denial (R122).
	Asker tools.Asker
	// OptionNames says that requests for permission show the names of their answers, so that
	// two of one kind can be told apart.
	OptionNames bool
	// Queue orders the questions of the session's agents; nil means one at a time, in order.
	Queue tools.QuestionQueue
	// Questions puts the questions of the question tool to the user; nil means that no user
	// is there to answer them (R76).
	Questions tools.Questioner
	// Person puts the questions of MCP servers to the user; nil means that no user is there.
	Person mcp.Person
	// Editor and Terminals are the client's; nil means that it has none.
	Editor    workspace.Editor
	Terminals run.Terminals
	// Trial is shared by the sessions of a connection; see workspace.Options.
	Trial *run.TerminalTrial
}

// Unattended is what differs in a session that no user watches.
type Unattended struct {
	// Unsandboxed says that, with no Asker, rules may let commands run although nothing
	// confines them (R124).
	Unsandboxed bool
	// CommandTimeout ends a command that asks for no time limit, where the settings have
	// none either; 0 means never, because the user can cancel it.
	CommandTimeout time.Duration
	// Waits says that the first prompt is the only one, and that the caller waits for the
	// subagents with Rest. The prompt waits longer for tools, and the end of its turn does not list
	// running subagents.
	Waits bool
}

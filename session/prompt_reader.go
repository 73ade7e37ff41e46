package session

import (
	"slices"

	"acp-agent/mcp"
	"acp-agent/transcript"
)

// promptReader makes of a prompt what the model reads: the text of a command in place of the command
// (expand.go, expand_custom.go), resources and files that are mentioned (mention.go), nothing of files
// that hold secrets (attachment.go), and a notice where images do not reach the model (images.go).
// It is safe for concurrent use.
type promptReader struct {
	opened
	conversation *conversation
	models       *models // of which it is known whether they take images
	sources      *sources
	agents       *agents // the rules of the main agent say what may be read
	performer    *performer
	custom       *customCommands // slash commands from files; custom.go
}

// isCommand reports whether a prompt is a command, of which the agent or a server makes something
// else.
func (p *promptReader) isCommand(prompt *transcript.Message) bool {
	if _, ok := commandOf(prompt); ok || p.custom.is(prompt) {
		return true
	}
	name, _, ok := typed(wordsOf(prompt))
	return ok && mcp.IsCommand(name)
}

// commands are the slash commands from files and of MCP servers.
func (p *promptReader) commands() []Command {
	return slices.Concat(p.custom.list(), p.sources.servers.promptCommands())
}

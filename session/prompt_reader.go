package session

import (
	"slices"

	"acp-agent/mcp"
	"acp-agent/transcript"
)

// promptReader turns a prompt into what the model reads. It replaces a command by its text (expand.go,
// expand_custom.go), adds resources that are mentioned (mention.go), drops the text of files that hold
// secrets (attachment.go), and tells the user when the model takes no images (images.go). It is safe
// for concurrent use.
type promptReader struct {
	opened
	conversation *conversation
	models       *models // whether they take images
	sources      *sources
	agents       *agents // the rules of the main agent decide what may be read
	performer    *performer
	custom       *customCommands // slash commands from files; custom.go
}

// isCommand reports whether a prompt is a command of the agent, of a file or of an MCP server, which
// must not go into a running turn as it was typed.
func (p *promptReader) isCommand(prompt *transcript.Message) bool {
	if _, ok := commandOf(prompt); ok || p.custom.isCommand(prompt) {
		return true
	}
	name, _, ok := typed(wordsOf(prompt))
	return ok && mcp.IsCommand(name)
}

// commands lists the slash commands from files and of MCP servers.
func (p *promptReader) commands() []Command {
	return slices.Concat(p.custom.list(), p.sources.servers.promptCommands())
}

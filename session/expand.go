package session

import (
	"fmt"
	"strings"
	"unicode"

	"acp-agent/internal/fileuri"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/transcript"
)

// expand replaces, for the model, a command that stands for a prompt: an MCP server has the text of
// its own commands, and expandCustom of the commands from files (R158). The editor shows what was
// typed. When the text cannot be had, refusal says why, and the model is not called. Other prompts
// stay as they are, and refusal is "".
func (p *promptReader) expand(t *Turn) (refusal string) {
	return p.performer.preparePrompt(t, "expand", func() string { return p.expandNow(t) })
}

func (p *promptReader) expandNow(t *Turn) (refusal string) {
	name, rest, ok := typed(wordsOf(t.prompt))
	if !ok || !mcp.IsCommand(name) {
		return p.expandCustom(t)
	}
	p.sources.refresh(t.ctx)
	var made []transcript.Part
	err := errDenied
	if !p.agents.tools.Denies(mcp.PromptID(name)) {
		made, err = p.sources.servers.Expand(t.ctx, name, rest)
	}
	if err != nil {
		return fmt.Sprintf("%s was not sent to the model.\n\n%s\n", code("/"+kinds.Line(name, lineRunes)), kinds.Fence("", err.Error()))
	}
	t.replacePrompt(made)
	return ""
}

// wordsOf is a prompt as if all of it had been typed: a mention becomes a word, which is the path of a
// file or an address.
func wordsOf(prompt *transcript.Message) string {
	var b strings.Builder
	mention := func(uri string) {
		if path, ok := fileuri.Path(uri); ok {
			uri = path
		}
		if strings.ContainsFunc(uri, unicode.IsSpace) {
			uri = `"` + uri + `"`
		}
		b.WriteString(" " + uri + " ")
	}
	for _, part := range prompt.Parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			b.WriteString(part.Text)
		case *transcript.LinkPart:
			mention(part.URI)
		case *transcript.ResourcePart:
			mention(part.URI)
		}
	}
	return b.String()
}

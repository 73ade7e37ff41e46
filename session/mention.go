package session

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/transcript"
)

// The limits of what is read for one prompt: how many resources, and the number of bytes of text after
// which no further one is read.
const (
	maxMentions  = 10
	maxMentioned = 200 << 10
)

var (
	errMentions = errors.New("the prompt mentions too much already")
	errDenied   = errors.New("a rule denies it")
)

// readMentions reads the resources of MCP servers that a prompt mentions, each once, and adds them to
// the prompt. The user named them, so no question is asked, but rules that deny still count. A file
// that holds secrets is not read in this way either (R30).
func (p *promptReader) readMentions(t *Turn) {
	p.performer.preparePrompt(t, "mentions", func() string {
		p.addMentions(t)
		return ""
	})
}

func (p *promptReader) addMentions(t *Turn) {
	defer p.conversation.activity.prepare("the resources that the prompt mentions")()
	p.awaitMentioned(t)
	var seen []string
	var read []transcript.Part
	size := 0
	for _, part := range t.prompt.Parts {
		uri := mentioned(part)
		server := p.sources.servers.Listing(uri)
		if server == "" && onlyTheEditorOpens(uri) && !slices.Contains(seen, uri) {
			seen = append(seen, uri)
			read = append(read, p.unopened(part, uri))
			continue
		}
		if server == "" || slices.Contains(seen, uri) || p.namesSecret(uri) {
			continue
		}
		seen = append(seen, uri)
		var parts []transcript.Part
		var err error
		switch {
		case p.agents.tools.Denies(mcp.ReaderID(server)):
			err = errDenied
		case len(seen) > maxMentions, size > maxMentioned:
			err = errMentions
		default:
			parts, err = p.sources.servers.Read(t.ctx, uri)
		}
		if t.ctx.Err() != nil {
			return // the loop notices it
		}
		if err != nil {
			parts = p.unread(server, uri, err)
		}
		for _, part := range parts {
			if text, ok := part.(*transcript.TextPart); ok {
				size += len(text.Text)
			}
		}
		read = append(read, parts...)
	}
	t.prompt.Parts = append(slices.Clip(t.prompt.Parts), read...)
}

// awaitMentioned waits for slow MCP servers if a prompt mentions an address that only a server can
// read, because it is neither a file's nor the web's nor the editor's, and that no server has listed.
func (p *promptReader) awaitMentioned(t *Turn) {
	unlisted := slices.ContainsFunc(t.prompt.Parts, func(part transcript.Part) bool {
		uri := mentioned(part)
		u, err := url.Parse(uri)
		return err == nil && u.Scheme != "" && !slices.Contains(commonSchemes, u.Scheme) && !onlyTheEditorOpens(uri) && p.sources.servers.Listing(uri) == ""
	})
	if !unlisted {
		return
	}
	ctx, cancel := context.WithTimeout(t.ctx, onlyWait)
	defer cancel()
	p.sources.awaitServers(ctx)
	p.sources.servers.AwaitLists(ctx)
}

// commonSchemes are the schemes of addresses that can be opened without an MCP server.
var commonSchemes = []string{"file", "http", "https"}

// editorSchemes are the schemes of addresses within an editor.
var editorSchemes = []string{"zed", "vscode", "jetbrains", "idea"}

// onlyTheEditorOpens reports whether only the editor can open an address, such as
// zed:///agent/terminal-selection?lines=3 for "@terminal". An address that names a path can be read.
func onlyTheEditorOpens(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && slices.Contains(editorSchemes, u.Scheme) && !u.Query().Has("path")
}

// unopened tells the user, and the model, that the editor sent a link without its text.
func (p *promptReader) unopened(part transcript.Part, uri string) transcript.Part {
	name := uri
	if link, ok := part.(*transcript.LinkPart); ok && link.Name != "" {
		name = link.Name
	}
	text := fmt.Sprintf("The text of %s was not sent: the editor gave a link that it alone can open (%s)", kinds.Line(name, titleRunes), kinds.Line(uri, lineRunes))
	p.conversation.emit(transcript.Notice{Severity: transcript.Warning, Title: "Not sent", Text: text + ". Paste the text instead."})
	return &transcript.TextPart{Text: "[" + text + ".]", Synthetic: true}
}

// mentioned is the address of a part that has no text of its own; "" when it has or is no address.
func mentioned(part transcript.Part) string {
	switch part := part.(type) {
	case *transcript.LinkPart:
		return part.URI
	case *transcript.ResourcePart:
		if part.Text == "" {
			return part.URI
		}
	}
	return ""
}

// unread tells the user, and the model, that a resource could not be read.
func (p *promptReader) unread(server, uri string, err error) []transcript.Part {
	text := fmt.Sprintf("%s of the MCP server %s could not be read: %s",
		kinds.Line(uri, lineRunes), server, kinds.Line(strings.ReplaceAll(err.Error(), "\n", ": "), lineRunes))
	p.conversation.emit(transcript.Notice{Severity: transcript.Warning, Title: "Resource not read", Text: text + "."})
	return []transcript.Part{&transcript.TextPart{Text: "[" + text + "]", Synthetic: true}}
}

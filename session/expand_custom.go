package session

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"acp-agent/commands"
	"acp-agent/kinds"
	"acp-agent/transcript"
)

// expandCustom replaces a command from a file, for the model, by the text of the file with the
// arguments filled in (R158); the editor shows what was typed. refusal says why it cannot.
func (p *promptReader) expandCustom(t *Turn) (refusal string) {
	c, rest, untrusted := p.custom.commandOf(t.prompt)
	switch {
	case untrusted != "":
		return fmt.Sprintf("%s is a command of this project, which you do not trust. `/trust` shows what that allows, and asks you.\n", code("/"+untrusted))
	case c.Name == "":
		return ""
	}
	text, err := c.Fill(rest)
	if err != nil {
		return fmt.Sprintf("%s was not sent to the model: %v.\n", code("/"+c.Name), err)
	}
	if note := withoutEffect(c); note != "" {
		p.conversation.notices.once("command "+c.File+" "+note, transcript.Notice{Severity: transcript.Warning, Title: "/" + c.Name, Text: "Of this command, " + note + "."})
	}
	made := []transcript.Part{&transcript.TextPart{Text: commandText(c, text), Synthetic: true}}
	t.replacePrompt(append(made, p.readFiles(t.ctx, t.prompt, commands.Mentions(text))...))
	return ""
}

// commandText is the text of a command as the model reads it.
func commandText(c commands.Command, text string) string {
	about := fmt.Sprintf("The user typed /%s, a command of theirs whose text follows. Do what it asks.", c.Name)
	if c.Shell {
		about += " What stands in !`…` was not run: run it with your tools where you need what it prints."
	}
	return fmt.Sprintf("<command name=%q file=%q>\n%s\n\n%s\n</command>", c.Name, c.File, about, text)
}

// replacePrompt hides what the user typed from the model, and gives it made in its place.
func (t *Turn) replacePrompt(made []transcript.Part) {
	var shown, others []transcript.Part
	for _, part := range t.prompt.Parts {
		if text, ok := part.(*transcript.TextPart); ok {
			shown = append(shown, &transcript.TextPart{ID: text.ID, Text: text.Text, Replaced: true})
		} else {
			others = append(others, part)
		}
	}
	t.prompt.Parts = append(append(shown, made...), others...)
}

// readFiles reads the files that the text of a command mentions, if the model may read them without a
// question: inside the session's directories, without secrets, and with no rule that denies or asks.
// The limits are those of mentions in a prompt. For a file that is not read the model gets a note, so
// that it can use its tools. A word that names no file stays text.
func (p *promptReader) readFiles(ctx context.Context, prompt *transcript.Message, paths []string) []transcript.Part {
	call := p.work.Call("command", "read", nil)
	defer call.Finish()
	var read []transcript.Part
	count, size := 0, 0
	for _, path := range paths {
		name := path
		if path = filepath.Clean(filepath.FromSlash(path)); !filepath.IsAbs(path) {
			path = filepath.Join(p.work.Session().Cwd, path)
		}
		info, err := call.FS().Stat(ctx, path)
		if err != nil || info.IsDir || attached(prompt, path) {
			continue
		}
		reason := ""
		switch {
		case p.namesSecret(path):
			reason = "it holds secrets"
		case !p.agents.tools.MayRead(path):
			reason = "the rules do not let it be read without a question"
		case count == maxMentions, size+int(info.Size) > maxMentioned:
			reason = "that would be too much at once"
		}
		if reason == "" {
			text, err := call.FS().ReadText(ctx, path)
			if err == nil && text.Exists {
				count, size = count+1, size+len(text.Content)
				read = append(read, &transcript.TextPart{Text: fmt.Sprintf("<file path=%q>\n%s\n</file>", name, text.Content), Synthetic: true})
				continue
			}
			reason = "it is not text that can be read"
		}
		read = append(read, &transcript.TextPart{Text: fmt.Sprintf("[%s is not included here: %s]", kinds.Line(name, lineRunes), reason), Synthetic: true})
	}
	return read
}

// attached reports whether a prompt holds the text of a file already.
func attached(prompt *transcript.Message, path string) bool {
	for _, part := range prompt.Parts {
		resource, ok := part.(*transcript.ResourcePart)
		if ok && resource.Text != "" && strings.HasSuffix(filepath.ToSlash(resource.URI), filepath.ToSlash(path)) {
			return true
		}
	}
	return false
}

package wire

import (
	"fmt"
	"strings"

	"acp-agent/transcript"
)

// What stands in the history where something is missing.
const (
	interruptedResult = "This call was interrupted; it has no result, and its effects are unknown."
	emptyResult       = "(no output)"
	OmittedImage      = "[image omitted: this model takes no images]"
)

// Piece is a text or an image of a user message.
type Piece struct {
	Text  string
	Image *transcript.ImagePart
}

// UserContent joins the texts between images, so that a sentence with a mention
// in it stays one. Two texts with nothing between them are two messages of the user, such as
// one that was cancelled and is sent again with the next.
func UserContent(parts []transcript.Part, images bool) []Piece {
	var pieces []Piece
	var text strings.Builder
	flush := func() {
		if strings.TrimSpace(text.String()) != "" {
			pieces = append(pieces, Piece{Text: text.String()})
		}
		text.Reset()
	}
	apart := false // the text so far must not run into what follows
	write := func(s string, block bool) {
		if text.Len() > 0 && (block || apart) {
			text.WriteString("\n\n")
		}
		text.WriteString(s)
		apart = block
	}
	for i, part := range parts {
		switch part := part.(type) {
		case *transcript.TextPart:
			if !part.Replaced {
				write(part.Text, part.Synthetic)
				apart = apart || i+1 < len(parts) && isText(parts[i+1])
			}
		case *transcript.LinkPart:
			write(describeLink(part), false)
		case *transcript.ResourcePart:
			write(fmt.Sprintf("<resource uri=%q>\n%s\n</resource>", part.URI, part.Text), true)
		case *transcript.ImagePart:
			if !images {
				write(OmittedImage, true)
				continue
			}
			flush()
			pieces = append(pieces, Piece{Image: part})
		}
	}
	flush()
	return pieces
}

func isText(part transcript.Part) bool {
	_, is := part.(*transcript.TextPart)
	return is
}

// describeLink names what a prompt points at; the content is for the model to
// read (R159).
func describeLink(l *transcript.LinkPart) string {
	name := l.Name
	if name == "" {
		name = l.Title
	}
	text := fmt.Sprintf("[@%s](%s)", OneLine(name), OneLine(l.URI))
	if l.Description != "" {
		text += " (" + OneLine(l.Description) + ")"
	}
	return text
}

// OneLine is s with its white space made single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// ResultText is the result of a call as the model reads it; it is never empty.
func ResultText(call *transcript.ToolPart, images bool) string {
	text := call.Text
	switch {
	case call.Result == nil && !call.State.Terminal():
		return interruptedResult
	case text == "" && call.Result != nil:
		text = call.Result.ErrorText
	}
	if len(call.Images) > 0 && !images {
		text = strings.TrimSpace(text + "\n" + OmittedImage)
	}
	if text == "" {
		return emptyResult
	}
	return text
}

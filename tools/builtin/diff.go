package builtin

import (
	"context"
	"strings"
	"unicode/utf8"

	"acp-agent/internal/textcut"
	"acp-agent/kinds"
	"acp-agent/tools"
)

// diffOf is the card of a change: the whole text before, nil for a file that is
// new, and after. Bytes that are not UTF-8 cannot be shown and become U+FFFD. After the end
// of ctx it is worth nothing.
func diffOf(ctx context.Context, path string, before tools.Text, after string) kinds.Diff {
	d := kinds.Diff{Path: path, New: validText(ctx, after)}
	if before.Exists {
		old := validText(ctx, before.Content)
		d.Old = &old
	}
	return d
}

// validText puts U+FFFD for bytes that are not UTF-8, in pieces of chunkBytes until ctx
// ends: a run of such bytes becomes one U+FFFD for each piece.
func validText(ctx context.Context, text string) string {
	rest := text
	for len(rest) > 0 && ctx.Err() == nil {
		piece := textcut.First(rest, chunkBytes)
		if !utf8.ValidString(piece) {
			break
		}
		rest = rest[len(piece):]
	}
	if rest == "" {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	out.WriteString(text[:len(text)-len(rest)])
	for len(rest) > 0 && ctx.Err() == nil {
		piece := textcut.First(rest, chunkBytes)
		out.WriteString(strings.ToValidUTF8(piece, "\ufffd"))
		rest = rest[len(piece):]
	}
	return out.String()
}

// secretContent is the card of a new file that will hold secrets.
func secretContent() []kinds.Content {
	return []kinds.Content{kinds.Text{Text: "The text of a file that holds secrets is not shown."}}
}

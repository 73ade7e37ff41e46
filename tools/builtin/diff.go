package builtin

import (
	"strings"

	"acp-agent/kinds"
	"acp-agent/tools"
)

// diffOf is the card of a change: the whole text before, nil for a file that is
// new, and after. Bytes that are no UTF-8 cannot be shown and become U+FFFD.
func diffOf(path string, before tools.Text, after string) kinds.Diff {
	d := kinds.Diff{Path: path, New: strings.ToValidUTF8(after, "\ufffd")}
	if before.Exists {
		old := strings.ToValidUTF8(before.Content, "\ufffd")
		d.Old = &old
	}
	return d
}

// secretContent is the card of a new file that will hold secrets.
func secretContent() []kinds.Content {
	return []kinds.Content{kinds.Text{Text: "The text of a file that holds secrets is not shown."}}
}

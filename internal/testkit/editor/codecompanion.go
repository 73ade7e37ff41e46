package editor

import (
	"regexp"
	"strings"
)

// CodeCompanion is the chat of codecompanion.nvim. A card is one line, "Kind: target",
// the target being the path of a diff, else the first location, else the title up to its
// first colon; nothing of the content is shown. Pending calls are not shown. A question
// shows the title and keys by the kinds of the options, without their names; of diffs, the
// first one and only when it is the first piece. While no prompt runs, updates of a turn
// and permission requests are dropped, the latter without an answer; a cancel ends the
// listening at once.
//
// Sources, olimorris/codecompanion.nvim at f1afd025: lua/codecompanion/acp/init.lua,
// acp/prompt_builder.lua, interactions/chat/acp/{handler,formatters,request_permission}.lua,
// adapters/acp/opencode.lua.
var CodeCompanion Editor = codeCompanion{}

type codeCompanion struct{}

func (codeCompanion) Name() string { return "codecompanion" }

func (codeCompanion) Params() string {
	return `{"protocolVersion":1,"clientInfo":{"name":"CodeCompanion.nvim","version":"1.0.0"},` +
		`"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`
}

func (codeCompanion) Drops(kind string) bool {
	switch kind {
	case "available_commands_update", "config_option_update", "session_info_update", "usage_update":
		return false
	}
	return true
}

// Apply keeps of a permission request what only the question needs, so it is left to Ask.
func (codeCompanion) Apply(_ *Screen, c *Card, call map[string]any, by Source) {
	if by != Asked {
		c.merge(call)
	}
}

func (codeCompanion) Look(_ *Screen, c *Card) View {
	return View{Title: capital(c.Kind) + ": " + target(c), Busy: c.busy()}
}

// target is what a card's line says after the kind.
func target(c *Card) string {
	for _, p := range parts(c.Content) {
		if p.Kind == "diff" {
			return p.Path
		}
	}
	if len(c.Locations) > 0 {
		return text(dig(c.Locations[0], "path"))
	}
	return cutTitle(c.Title)
}

var quotedTitle = regexp.MustCompile("^`([^`]+)`|^\"([^\"]+)\"")

// cutTitle is the title as the line has it: what is in quotes at its beginning, else what
// stands before a colon, at most 60 bytes.
func cutTitle(title string) string {
	title = strings.TrimSpace(title)
	if m := quotedTitle.FindStringSubmatch(title); m != nil {
		return m[1] + m[2]
	}
	title, _, _ = strings.Cut(title, "=>")
	title, _, _ = strings.Cut(title, "—")
	if before, after, cut := strings.Cut(title, ":"); cut && before != "" && len(before) < 40 && !strings.HasPrefix(after, "//") {
		title = before
	}
	title = strings.TrimSpace(title)
	if len(title) > 60 {
		title = title[:57] + "..."
	}
	return title
}

func capital(kind string) string {
	if kind == "" {
		kind = "other"
	}
	kind = strings.ReplaceAll(kind, "_", " ")
	return strings.ToUpper(kind[:1]) + kind[1:]
}

func (codeCompanion) Never(Part) string { return "a card is one line" }

func (codeCompanion) Ask(_ *Screen, c *Card, call map[string]any, options []Option) Question {
	merged := *c
	merged.merge(call)
	q := Question{Title: capital(merged.Kind) + ": " + merged.Title}
	if all := parts(merged.Content); len(all) > 0 && all[0].Kind == "diff" && all[0].Old+all[0].New != "" {
		path := all[0].Path
		if len(merged.Locations) > 0 {
			path = text(dig(merged.Locations[0], "path"))
		}
		q.Title, q.Parts = "Proposed edits for `"+path+"`:", all[:1]
	}
	for _, kind := range []struct{ kind, label string }{
		{"allow_once", "Accept"}, {"allow_always", "Always accept"}, {"reject_once", "Reject"},
	} {
		// In the view of a diff the keys go by the kind, so that the last option of it
		// counts.
		if o, ok := kindOf(options, kind.kind, false); ok {
			for _, meant := range options {
				if meant.Kind == kind.kind {
					q.Choices = append(q.Choices, Choice{Label: kind.label, Presses: meant, Sends: o})
				}
			}
		}
	}
	return q
}

package editor

// Avante is the sidebar of avante.nvim, with auto_approve_tool_permissions set to false.
// It sends no clientInfo. A permission request's toolCall changes the card, whose content
// is shown as text and diffs, a diff only when it has an old text. The buttons bear the
// names of the options, but which option is sent goes by ids and kinds: the ids allow,
// allow_once and allow_always approve and send the last option of the kind allow_once, or
// allow_always after the id allow_always was pressed once; everything else sends the last
// one of the kind reject_once.
//
// Sources, yetone/avante.nvim at a9334315: lua/avante/libs/acp_client.lua, llm.lua
// (_stream_acp), llm_tools/helpers.lua (confirm), ui/acp_confirm_adapter.lua,
// history/render.lua, config.lua.
var Avante Editor = avante{}

type avante struct{}

func (avante) Name() string { return "avante" }

func (avante) Params() string {
	return `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}}`
}

func (avante) Drops(string) bool { return false }

func (avante) Apply(_ *Screen, c *Card, call map[string]any, _ Source) {
	before := c.Content
	c.merge(call)
	if len(c.Content) == 0 {
		c.Content = before // an empty list is ignored
	}
}

func (a avante) Look(_ *Screen, c *Card) View {
	v := View{Title: c.Title, Busy: c.busy()}
	for _, p := range parts(c.Content) {
		if a.Never(p) == "" && p.Kind != "terminal" {
			v.Parts = append(v.Parts, p)
		}
	}
	return v
}

func (avante) Never(p Part) string {
	switch {
	case p.Kind == "diff" && p.Fresh:
		return "the diff of a new file is not shown"
	case p.Kind == "image":
		return "pictures on cards are not shown"
	}
	return ""
}

func (a avante) Ask(s *Screen, c *Card, _ map[string]any, options []Option) Question {
	look := a.Look(s, c)
	q := Question{Title: look.Title, Parts: look.Parts, Names: true}
	once, _ := kindOf(options, "allow_once", false)
	always, _ := kindOf(options, "allow_always", false)
	no, _ := kindOf(options, "reject_once", false)
	for _, o := range options {
		sends := no
		switch o.ID {
		case "allow", "allow_once":
			sends = once
		case "allow_always":
			sends = always
		}
		q.Choices = append(q.Choices, Choice{Label: o.Name, Presses: o, Sends: sends})
	}
	return q
}

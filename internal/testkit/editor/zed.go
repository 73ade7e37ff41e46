package editor

// Zed is the agent panel of Zed. What a permission request says of its call replaces the
// card's content piece by piece, a terminal too; titles are Markdown unless the call runs
// a command or edits; the options are buttons with their names; updates are applied
// whether or not a prompt is running.
//
// Sources, zed-industries/zed: crates/acp_thread/src/acp_thread.rs at 00293ca7 (from_acp,
// update_fields, request_tool_call_authorization, push_assistant_content_block),
// crates/agent_servers/src/acp.rs at 0038d2e2 (initialize, the terminal extension),
// crates/agent_ui/src/conversation_view (render_permission_buttons_flat).
var Zed Editor = zed{}

type zed struct{}

func (zed) Name() string { return "zed" }

func (zed) Params() string {
	return `{"protocolVersion":1,"clientInfo":{"name":"zed","title":"Zed","version":"1.0.0"},"clientCapabilities":{` +
		`"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},` +
		`"session":{"configOptions":{"boolean":{}}},"elicitation":{"form":{},"url":{}},` +
		`"_meta":{"terminal_output":true,"terminal-auth":true}}}`
}

func (zed) Drops(string) bool { return false }

func (zed) Apply(s *Screen, c *Card, call map[string]any, by Source) {
	before := c.Content
	c.merge(call)
	for _, p := range parts(c.Content) {
		if p.Kind == "terminal" && s.Terminals[p.ID] == nil {
			c.Content = before // the update fails half-way
		}
	}
	c.Waits = by == Asked
}

func (zed) Look(s *Screen, c *Card) View {
	v := View{Title: c.Title, Parts: parts(c.Content), Exits: true, Busy: c.busy()}
	if c.Kind != "execute" && c.Kind != "edit" {
		v.Title = unmarked(firstLine(c.Title))
	}
	if len(v.Parts) == 0 && c.Output != nil {
		v.Parts = []Part{{Kind: "text", Text: encode(c.Output)}}
	}
	return v
}

func (zed) Never(Part) string { return "" }

func (z zed) Ask(s *Screen, c *Card, call map[string]any, options []Option) Question {
	look := z.Look(s, c)
	return Question{Title: look.Title, Parts: look.Parts, Choices: named(options), Names: true}
}

// named are choices that bear the names of the options and send what they say.
func named(options []Option) []Choice {
	var all []Choice
	for _, o := range options {
		all = append(all, Choice{Label: o.Name, Presses: o, Sends: o})
	}
	return all
}

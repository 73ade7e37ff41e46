package editor

// JetBrains is the AI Chat of the JetBrains IDEs. Its sources are not public: the model
// takes the text of the protocol at its word, a permission request's toolCall being an
// update of the card. It names no client, so that nothing rests on a name.
//
// Sources: the AI Assistant's page on ACP, and the protocol's pages on tool calls and
// terminals (protocol version 1), as of November 2026.
var JetBrains Editor = jetbrains{}

type jetbrains struct{}

func (jetbrains) Name() string { return "jetbrains" }

func (jetbrains) Params() string {
	return `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}`
}

func (jetbrains) Drops(string) bool { return false }

func (jetbrains) Apply(_ *Screen, c *Card, call map[string]any, _ Source) { c.merge(call) }

func (jetbrains) Look(_ *Screen, c *Card) View {
	return View{Title: c.Title, Parts: parts(c.Content), Busy: c.busy()}
}

func (jetbrains) Never(p Part) string {
	if p.Kind == "image" {
		return "pictures on cards are not documented"
	}
	return ""
}

func (j jetbrains) Ask(s *Screen, c *Card, call map[string]any, options []Option) Question {
	look := j.Look(s, c)
	return Question{Title: look.Title, Parts: look.Parts, Choices: named(options), Names: true}
}

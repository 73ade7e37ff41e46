package editor

// Editor is what one editor makes of an agent's messages. A model has no state of its own:
// the state is in the [Screen] and its cards.
type Editor interface {
	// Name is the editor's, as in docs/editors.md.
	Name() string
	// Params are those of the initialize request that it sends, as JSON.
	Params() string
	// Drops reports whether the editor ignores a message that comes while it waits for no
	// prompt of that session. The kind is that of an update, or the method of a request.
	Drops(kind string) bool
	// Apply changes a card by the members of a tool_call, a tool_call_update, or the
	// toolCall of a permission request.
	Apply(s *Screen, c *Card, call map[string]any, by Source)
	// Look is what the card shows.
	Look(s *Screen, c *Card) View
	// Never says why the editor does not show this part on any card; "" when it does.
	Never(p Part) string
	// Ask is what it shows of a permission request and what its choices send. The card
	// is already changed by Apply.
	Ask(s *Screen, c *Card, call map[string]any, options []Option) Question
}

// Source is what changes a card.
type Source int

// The sources.
const (
	Opened  Source = iota // tool_call
	Updated               // tool_call_update
	Asked                 // the toolCall of session/request_permission
)

// All are the models.
var All = []Editor{Zed, JetBrains, CodeCompanion, AgentShell, Avante, Acpx}

// Named returns the model of that name, or nil.
func Named(name string) Editor {
	for _, e := range All {
		if e.Name() == name {
			return e
		}
	}
	return nil
}

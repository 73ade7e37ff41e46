package v1

import "strings"

// traits are what an editor does with messages where the protocol leaves it free.
// docs/editors.md names the sources.
type traits struct {
	// optionNames: a permission request shows the names of its options, so that two
	// options of one kind can be told apart.
	optionNames bool
	// requestText: a permission request shows the text in the content of the call.
	requestText bool
	// firstDiff: of the diffs in a permission request only the first is shown.
	firstDiff bool
	// dropsBetweenTurns: updates and requests that arrive while no prompt runs are lost.
	dropsBetweenTurns bool
	// markdownTitles: the title of a tool call is rendered as Markdown.
	markdownTitles bool
	// cutTitles: the title of a tool call ends at its first colon, unless it is a code
	// span.
	cutTitles bool
	// locationTitles: a call with a location is shown under that instead of its title.
	locationTitles bool
	// blindTerminals: the client runs terminals, but does not show their output.
	blindTerminals bool
	// oneRejection: the client sends the same for each option that rejects.
	oneRejection bool
	// flatOptions: the values of a config option cannot be chosen under headings.
	flatOptions bool
}

// editors are the traits of editors by the lower-case name in their clientInfo. An editor
// that is not listed has the zero value. avante.nvim sends no name.
var editors = map[string]traits{
	"":                   {flatOptions: true, oneRejection: true},
	"zed":                {optionNames: true, requestText: true, markdownTitles: true},
	"codecompanion.nvim": {firstDiff: true, dropsBetweenTurns: true, cutTitles: true, locationTitles: true},
	"agent-shell":        {optionNames: true, dropsBetweenTurns: true},
	"acpx":               {blindTerminals: true},
	"vscode-acp-client":  {optionNames: true},
	"acp-agent-demo":     {optionNames: true},
}

// traitsOf are the traits of the editor with a name.
func traitsOf(name string) traits { return editors[strings.ToLower(name)] }

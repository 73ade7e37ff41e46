package kinds

import "strings"

// Card is what the user sees of one tool call, free of any wire format: the
// ACP adapter turns it into tool_call and permission messages, and the
// transcript keeps it.
type Card struct {
	// Kind decides the icon. Empty means Other.
	Kind Kind `json:"kind"`
	// Title is one line for the user, except for commands: there it is the
	// whole command. Paths in it are relative to the session's directory.
	Title string `json:"title"`
	// Locations are the files the call touches, absolute, most telling last.
	Locations []Location `json:"locations,omitempty"`
	// Content is what the card shows below its title.
	Content []Content `json:"-"`
}

// Location is a place in a file that an editor can follow.
type Location struct {
	// Path is absolute.
	Path string `json:"path"`
	// Line is 1-based; 0 means the file as a whole.
	Line int `json:"line,omitempty"`
}

// Content is one block of a card: Text, Image, Diff or Terminal.
type Content interface{ isContent() }

// Text is a block of Markdown or plain text.
type Text struct{ Text string }

// Image is a picture, base64 encoded.
type Image struct{ MediaType, Data string }

// Diff is a change of one file as its whole text before and after, so that an
// editor can show true line numbers.
type Diff struct {
	// Path is absolute.
	Path string
	// Old is the text before the change; nil means the file is new.
	Old *string
	// New is the whole text after the change; a deleted file has "".
	New string
}

// Terminal is a pane that shows a running command.
type Terminal struct{ ID string }

func (Text) isContent()     {}
func (Image) isContent()    {}
func (Diff) isContent()     {}
func (Terminal) isContent() {}

// TitleRunes bounds every title but a command's.
const TitleRunes = 120

// Neutral is the card of a call of which only the tool's id is known: a tool from elsewhere,
// one that no longer exists, or a name that a model invented. The title of
// "mcp__github__search_code" is "github · search code".
func Neutral(id string) Card {
	name, isMCP := strings.CutPrefix(id, "mcp__")
	name = strings.TrimPrefix(name, "tb__")
	title := strings.ReplaceAll(name, "_", " ")
	if server, tool, ok := strings.Cut(name, "__"); isMCP && ok {
		title = server + " · " + strings.ReplaceAll(tool, "_", " ")
	}
	if title = Line(title, TitleRunes); title == "" {
		title = "Unknown tool"
	}
	return Card{Kind: Other, Title: title}
}

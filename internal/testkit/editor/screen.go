package editor

import "strings"

// Screen is what the user of an editor has seen of one session.
type Screen struct {
	Items     []*Item
	Questions []*Question
	Plan      []string
	Mode      string
	Commands  []string
	// Terminals are the terminals that the agent describes (_meta.terminal_info) or has created.
	Terminals map[string]*Terminal

	cards map[string]*Card
	// running are the prompts without an answer; stopped says that the user has cancelled
	// and that the editor has stopped listening.
	running int
	stopped bool
	// unheardCalls and unheardText came after a cancel, when the editor no longer
	// listened.
	unheardCalls map[string]bool
	unheardText  string
	// apart keeps messages apart, as the protocol has them and no editor does.
	apart bool
}

// Kind of an item.
type Kind string

// The kinds.
const (
	Prompt  Kind = "prompt"
	Text    Kind = "text"
	Thought Kind = "thought"
	Tool    Kind = "card"
)

// Item is one thing in the conversation, from top to bottom.
type Item struct {
	Kind Kind
	Text string
	Card *Card
	// Glued are the joints of messages within the text that no blank line separates.
	Glued []string

	message string // id of the message that the text ends with
}

// Card is a tool call as the editor keeps it.
type Card struct {
	ID     string
	Title  string
	Kind   string
	Status string
	// Content, Locations and Input are the members of the protocol.
	Content   []any
	Locations []any
	Input     any
	Output    any
	// Kept are the diffs that an editor collects over the updates, where it does.
	// Held are those of a request, which come to be shown with the next update.
	Kept, Held []Part
	// Waits says that the card waits for an answer.
	Waits bool
}

// Terminal is the text of a terminal and how its command ended.
type Terminal struct {
	Text  string
	Exit  int
	Ended bool
}

// Part is a piece of a card: one of text, diff or terminal.
type Part struct {
	Kind           string // "text", "image", "diff" or "terminal"
	Text           string // of a text
	Path, Old, New string // of a diff
	Fresh          bool   // a diff without an old text
	ID             string // of a terminal
}

// View is what a card shows.
type View struct {
	Title string
	Parts []Part
	// Exits says that terminals show how their command ended.
	Exits bool
	Busy  bool
}

// Option is one of a permission request.
type Option struct{ ID, Kind, Name string }

// Question is a permission request as the editor shows it.
type Question struct {
	Call    string
	Title   string
	Parts   []Part
	Choices []Choice
	// Dropped says that the editor ignored the request.
	Dropped bool
	// Names says that the choices bear the names of the options.
	Names bool

	options []Option
	call    map[string]any
	// look and chat are the card and the chat as they were when it was asked.
	look View
	chat string
}

// Choice is a button or key.
type Choice struct {
	Label string
	// Presses is the option that the user means by it, Sends the one that is sent.
	Presses, Sends Option
	// EndsTurn says that the editor cancels the turn as well.
	EndsTurn bool
}

// last is the last item, nil before any.
func (s *Screen) last() *Item {
	if len(s.Items) == 0 {
		return nil
	}
	return s.Items[len(s.Items)-1]
}

// say adds a piece of text, to the item before if that has the same kind.
func (s *Screen) say(kind Kind, message, text string) {
	if text == "" {
		return
	}
	item := s.last()
	if item == nil || item.Kind != kind || s.apart && item.message != message {
		s.Items = append(s.Items, &Item{Kind: kind, Text: text, message: message})
		return
	}
	if kind == Text && item.message != message && !separate(item.Text, text) {
		item.Glued = append(item.Glued, tail(item.Text, 30)+"|"+head(text, 30))
	}
	item.Text += text
	item.message = message
}

// separate reports whether Markdown begins a new paragraph where two texts meet.
func separate(before, after string) bool {
	newlines := len(before) - len(strings.TrimRight(before, "\n")) + len(after) - len(strings.TrimLeft(after, "\n"))
	return newlines >= 2 || strings.TrimSpace(before) == ""
}

// chat is all text of the agent that is on the screen.
func (s *Screen) chat() string {
	var b strings.Builder
	for _, item := range s.Items {
		if item.Kind == Text {
			b.WriteString(item.Text + "\n")
		}
	}
	return b.String()
}

func head(text string, n int) string { return text[:min(n, len(text))] }
func tail(text string, n int) string { return text[max(0, len(text)-n):] }

package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"acp-agent/kinds"
	"acp-agent/transcript"
)

// Result is what a tool hands back. The pipeline makes the envelope of R5 of
// it; tools never build envelopes.
type Result struct {
	// Data is the tool's own JSON (R5). For tools whose result is plain text it
	// is a string.
	Data any
	// Text is what the model reads; empty means Data, as text when it is a
	// string and as JSON otherwise.
	Text string
	// Images are shown to the model and to the user.
	Images []transcript.ImagePart
	// Content replaces the card's content when set, Locations its locations,
	// Title its title.
	Content   []kinds.Content
	Locations []kinds.Location
	Title     string
	// TrackFiles are the absolute paths that the call changed (R129).
	TrackFiles []string
	// Background says that a subagent goes on after the result.
	Background bool
	// EndsTurn says that the turn ends after the step of this call, without another request
	// to the model: what comes next is the user's.
	EndsTurn bool
	// Depends are the absolute paths that a cacheable result was made from; nil
	// means that it is not kept, an empty list that it depends on no file (R130).
	Depends []string
	// Partial says that the tool was stopped before it had done its work, so
	// that a cancelled call is not taken for a finished one (R142).
	Partial bool
	// Truncated and OutputPath say that Data holds only the head and where the
	// whole stands (R105).
	Truncated  bool
	OutputPath string
}

// Output makes a Result of data.
func Output(data any) *Result { return &Result{Data: data} }

// ErrorKind says what sort of failure a tool had (R14); the set is closed.
type ErrorKind string

// The kinds of tool errors.
const (
	BadInput    ErrorKind = "bad_input"
	Unavailable ErrorKind = "unavailable"
	Denied      ErrorKind = "denied"
	Aborted     ErrorKind = "cancelled"
	Timeout     ErrorKind = "timeout"
	Backend     ErrorKind = "backend"
)

// Error is the one error a model sees. Its text is Message, Detail and Hint. The user sees
// Card, or Message and Detail.
type Error struct {
	Kind ErrorKind
	// Code is for clients, such as "reading-secret-file"; may be empty.
	Code string
	// Path is absolute, when the failure is about a file.
	Path string
	// Message states what was wrong and with which input.
	Message string
	// Detail says more of it, such as the cause; may be empty.
	Detail string
	// Hint tells the model what to do next; may be empty. The user does not see it.
	Hint string
	// Card is what the user sees in place of Message and Detail; empty means those.
	Card string
	// DeniedBy names what refused the call, for kind Denied.
	DeniedBy string
	Err      error
}

// Error returns the text the model reads.
func (e *Error) Error() string {
	return joined(e.Message, e.Detail, e.Hint)
}

// Shown returns the text that the user sees.
func (e *Error) Shown() string { return cmp.Or(e.Card, joined(e.Message, e.Detail)) }

// joined returns the texts that are not empty, each on a line of its own.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n")
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error of a kind.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// ModelText is what the model reads of a result.
func (r *Result) ModelText() string {
	if r.Text != "" {
		return r.Text
	}
	switch data := r.Data.(type) {
	case nil:
		return ""
	case string:
		return data
	default:
		text, err := json.Marshal(data)
		if err != nil {
			return fmt.Sprint(data)
		}
		return string(text)
	}
}

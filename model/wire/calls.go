package wire

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"unicode"
)

// The bounds of the tool calls of one step. Arguments are held several times over while
// they are read, checked and shown; no model writes so many tokens in one answer.
const (
	MaxCalls     = 256
	MaxArguments = 8 << 20 // bytes, of all calls
)

// What an answer is given up for.
var (
	ErrTooManyCalls  = errors.New("the answer has too many tool calls")
	ErrLongArguments = errors.New("the arguments of its tool calls are larger than 8 MiB")
)

// CallIDs are the ids of a step's calls. The zero value is ready.
type CallIDs struct{ used map[string]bool }

// Unique returns the server's id if it serves as one, or a fresh one.
func (c *CallIDs) Unique(id string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }
	if id == "" || len(id) > 128 || c.used[id] || strings.ContainsFunc(id, odd) {
		id = "call_" + rand.Text()
	}
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.used[id] = true
	return id
}

// ToolName makes a name that servers accept in the history: a model may have
// called a tool by a name that no server would take back.
func ToolName(name string) string {
	if name == "" {
		return "unknown"
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	return clean[:min(len(clean), 64)]
}

// SentArguments is the argument text of a past call. Text that is not an object
// would have the server refuse the request, and with it the conversation.
func SentArguments(input string) string {
	if trimmed := strings.TrimSpace(input); strings.HasPrefix(trimmed, "{") && json.Valid([]byte(trimmed)) {
		return input
	}
	return "{}"
}

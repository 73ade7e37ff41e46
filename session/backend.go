package session

import (
	"time"

	"acp-agent/model"
)

// Backend is a model server and how it is used.
type Backend struct {
	Provider model.Provider
	// Model is the configured model; ThoughtLevel its configured effort.
	Model        string
	ThoughtLevel string
	Temperature  *float64
	MaxTokens    int
	// NoticeAfter is how long a model may send nothing before the user is notified.
	NoticeAfter time.Duration
	// Server says in words which server answers and where its key was named; empty when
	// there is none.
	Server string
	// Check says why a model's name cannot be used, for an agent as for a choice; nil means
	// that any can be tried.
	Check func(model string) error
}

// usable says why a model's name cannot be used; nil when it can be tried.
func (b Backend) usable(model string) error {
	if b.Check == nil {
		return nil
	}
	return b.Check(model)
}

// AuthError says that no session can work until credentials are set.
type AuthError struct{ Message string }

// Error says what to set.
func (e *AuthError) Error() string { return e.Message }

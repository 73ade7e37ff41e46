package model

import (
	"errors"
	"fmt"
	"time"
)

// ErrorKind sorts failures by what can be done about them (R140).
type ErrorKind int

// The kinds of errors.
const (
	// Transient failures may pass: rate limits, overload, broken connections.
	Transient ErrorKind = iota
	// Overflow means that the request does not fit the model's window.
	Overflow
	// Auth means that the key is missing, wrong or not entitled.
	Auth
	// Invalid means that the server will not take this request, ever.
	Invalid
)

// Error is what a Provider fails with.
type Error struct {
	Kind ErrorKind
	// Status is the HTTP status, 0 when there was no answer.
	Status int
	// RetryAfter is what the server asked for; 0 means that it did not say.
	RetryAfter time.Duration
	// Busy says that the server asks to wait: it is overloaded, loads the model, or the
	// rate of requests is at its limit. It goes with Transient.
	Busy bool
	// TimedOut says that the server was silent for longer than it may be.
	TimedOut bool
	// Message is one line for the user, without secrets.
	Message string
	// Hint says what to do about it; may be empty.
	Hint string
	// Interrupted says that the stream had started and was cut.
	Interrupted bool
	Err         error
}

// Error returns the message and the hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (%s)", e.Message, e.Hint)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// AsError returns err as a *Error; an error of another kind becomes a Transient
// one, for it came from the connection.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: Transient, Message: err.Error(), Err: err}
}

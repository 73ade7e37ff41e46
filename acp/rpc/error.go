package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// The error codes of JSON-RPC 2.0 and the codes that ACP adds (R147).
const (
	CodeParseError       = -32700 // the line is not JSON
	CodeInvalidRequest   = -32600 // JSON, but no request
	CodeMethodNotFound   = -32601 // the method does not exist
	CodeInvalidParams    = -32602 // the parameters do not fit the method
	CodeInternalError    = -32603 // our fault, or the outside world's
	CodeRequestCancelled = -32800 // ended by `$/cancel_request` or by the end of the connection
	CodeAuthRequired     = -32000 // authenticate first
	CodeResourceNotFound = -32002 // the session or file does not exist
)

var (
	// ErrCancelRequest is the cause of a [Body]'s cancelled context when the peer
	// sent `$/cancel_request` for it.
	ErrCancelRequest = errors.New("request cancelled by the peer")

	// ErrClosed reports that the connection has ended. It is the cause of every
	// Body's context at that moment, and what calls and notifications then return.
	ErrClosed = errors.New("connection closed")
)

// Error is a JSON-RPC error. A [Body] returns one to choose code and data; [Conn.Call]
// returns an error that unwraps to one when the peer answered with it, where Data is
// then a json.RawMessage.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"` // one concise sentence
	Data    any    `json:"data,omitempty"`
}

// Errorf makes an Error whose message is formatted like [fmt.Sprintf]'s.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// callError is the peer's answer to one of our calls. It is told apart from an Error
// made here: a client that does not know `terminal/create` must not make us answer its
// own session/prompt with "method not found".
type callError struct {
	method string
	err    *Error
}

func (e *callError) Error() string { return fmt.Sprintf("call %s: %v", e.method, e.err) }
func (e *callError) Unwrap() error { return e.err }

// wireError turns what a Body returned into the error that the peer reads.
// ctx is the Body's context: its cause says why the work was cancelled.
func wireError(ctx context.Context, err error) *Error {
	var peer *callError
	var own *Error
	switch {
	case errors.As(err, &peer):
		return &Error{Code: CodeInternalError, Message: oneLine(err.Error())}
	case errors.As(err, &own):
		return &Error{Code: own.Code, Message: oneLine(own.Message), Data: own.Data}
	case isCancellation(ctx, err):
		return &Error{Code: CodeRequestCancelled, Message: "request cancelled"}
	default:
		return &Error{Code: CodeInternalError, Message: oneLine(err.Error())}
	}
}

func isCancellation(ctx context.Context, err error) bool {
	if errors.Is(err, ErrCancelRequest) || errors.Is(err, ErrClosed) {
		return true
	}
	cause := context.Cause(ctx)
	return errors.Is(err, context.Canceled) &&
		(errors.Is(cause, ErrCancelRequest) || errors.Is(cause, ErrClosed))
}

// maxMessageBytes bounds an error message: it is a sentence, not a report.
const maxMessageBytes = 500

// oneLine makes s fit for the message member: one line, not empty, not long.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if s == "" {
		return "internal error"
	}
	if len(s) <= maxMessageBytes {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessageBytes], "") + "…" // without a character that is cut in two
}

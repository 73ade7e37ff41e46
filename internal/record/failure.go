package record

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
)

// head is the head of an answer.
type head struct {
	Status int                 `json:"status,omitempty"`
	Header map[string][]string `json:"header,omitempty"`
	Failed *failure            `json:"failed,omitempty"`
}

// failure is an error of a connection, with the properties by which callers distinguish errors.
type failure struct {
	Text    string `json:"text"`
	Timeout bool   `json:"timeout,omitempty"`
	Host    string `json:"host,omitempty"` // the name that was not found
	// Is names one of the sentinels.
	Is string `json:"is,omitempty"`
}

// sentinels are the errors with which callers compare an error.
func sentinels() map[string]error {
	return map[string]error{
		"refused": syscall.ECONNREFUSED, "reset": syscall.ECONNRESET, "eof": io.EOF, "unexpected eof": io.ErrUnexpectedEOF,
		"cancelled": context.Canceled, "scheme": http.ErrSchemeMismatch,
	}
}

func failureOf(err error) *failure {
	f := &failure{Text: err.Error()}
	if timeout, ok := errors.AsType[net.Error](err); ok {
		f.Timeout = timeout.Timeout()
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		f.Host = dns.Name
	}
	for name, sentinel := range sentinels() {
		if errors.Is(err, sentinel) {
			f.Is = name
		}
	}
	return f
}

func (f *failure) err() error {
	if f.Host != "" {
		return &net.DNSError{Err: f.Text, Name: f.Host, IsTimeout: f.Timeout, IsNotFound: true}
	}
	if f.Is == "eof" && f.Text == io.EOF.Error() {
		return io.EOF
	}
	return &playedError{failure: *f, err: sentinels()[f.Is]}
}

// playedError is a recorded error of a connection.
type playedError struct {
	failure
	err error
}

// Error implements error.
func (e *playedError) Error() string { return e.Text }

// Unwrap returns the sentinel, if there is one.
func (e *playedError) Unwrap() error { return e.err }

// Timeout implements net.Error.
func (e *playedError) Timeout() bool { return e.failure.Timeout }

// Temporary implements net.Error.
func (e *playedError) Temporary() bool { return false }

package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"acp-agent/model"
)

const (
	// lingerTimeout bounds the wait for usage once the finish reason is known.
	lingerTimeout = 5 * time.Second
	// drainTimeout bounds the wait for the end of the body after the last event; only
	// a body read to its end leaves a connection that can be used again.
	drainTimeout = 50 * time.Millisecond
)

// ErrStopped says that the consumer broke out of the loop.
var ErrStopped = errors.New("stopped by the consumer")

// ErrMalformed is an event that cannot be read.
var ErrMalformed = errors.New("the model server sent an event that is not JSON")

// Exchange is one request for a step and the reading of its answer.
type Exchange struct {
	Model string
	// Slow is for a model or a server that is silent before it answers.
	Slow bool
	// Size is the length of the body, for the log.
	Size int
	// Send sends the request and returns an answer that is a success.
	Send func(ctx context.Context) (*http.Response, error)
	// Read reads the answer to its end.
	Read func(answer *Watchdog) error
	// Patience is that of the request; see model.Request.
	Patience func(limit time.Duration)
	// Started reports whether a part of the answer was handed on.
	Started func() bool
}

// Do makes the exchange with a watchdog over it. Its error is ErrStopped, one of the
// context or a *model.Error.
func (s *Server) Do(ctx context.Context, x *Exchange) error {
	parent := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := NewWatchdog(s.StartLimit(x.Slow), cancel)
	defer dog.Stop()
	if x.Patience != nil {
		x.Patience(dog.limit)
		dog.onLimit = x.Patience
	}

	start := time.Now()
	res, err := x.Send(ctx)
	dog.Stop()
	if parent.Err() != nil {
		CloseBody(res)
		return parent.Err()
	}
	if err != nil {
		return s.RequestError(ctx, err)
	}
	defer CloseBody(res)
	s.Logger.Debug("model server answers", "model", x.Model, "status", res.StatusCode, "bytes", x.Size, "after", time.Since(start))

	dog.Body = res.Body
	dog.vain.limit, dog.alive.limit = s.Timeouts.contentLimits(s.Local)
	err = x.Read(dog)
	switch {
	case err == nil, errors.Is(err, ErrStopped):
		return err
	case parent.Err() != nil:
		return parent.Err()
	case errors.Is(context.Cause(ctx), ErrIdle):
		message, hint := dog.reason()
		return &model.Error{Kind: model.Transient, Message: message, Hint: hint, Interrupted: x.Started(), TimedOut: true, Err: ErrIdle}
	}
	return err
}

// Linger leaves an answer that is complete a short time for what may still follow.
func (s *Server) Linger(answer *Watchdog) {
	answer.LastWait(min(lingerTimeout, s.IdleLimit()))
}

// Drain reads the rest of an answer after its last event, for as long as finish takes and
// a moment more.
func Drain(answer *Watchdog, finish func() error) error {
	answer.LastWait(drainTimeout)
	err := finish()
	_, _ = io.CopyN(io.Discard, answer, 4<<10)
	return err
}

// CutError says why an answer has no end. started says that a part of it was handed on.
func (s *Server) CutError(err error, started bool) error {
	e := &model.Error{Kind: model.Transient, Interrupted: started, Err: err}
	switch {
	case errors.Is(err, ErrWebPage):
		e.Kind, e.Message, e.Hint = model.Invalid, "the model server answered with a web page", s.BaseHint()
	case errors.Is(err, ErrTooLong), errors.Is(err, ErrTooManyCalls), errors.Is(err, ErrLongArguments):
		e.Kind, e.Message = model.Invalid, "the model server's answer was given up: "+err.Error()
	case errors.Is(err, ErrMalformed):
		e.Message = err.Error()
	case errors.Is(err, io.EOF) && !started:
		e.Message = "the model server ended the answer before it began"
	case errors.Is(err, io.EOF):
		e.Message = "the model server ended the answer in the middle"
	default:
		reason, _ := s.reason(err)
		e.Message = "the answer was cut off: " + reason
	}
	return e
}

// CheckStatus returns an answer that is a success, and an error for any other. Of that it reads
// what the server says, within bounds.
func (s *Server) CheckStatus(res *http.Response) (*http.Response, error) {
	if res.StatusCode >= 200 && res.StatusCode <= 299 {
		return res, nil
	}
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	_ = res.Body.Close()
	return nil, s.StatusError(res.StatusCode, res.Header, body)
}

// maxErrorBody bounds what is read of an answer that is an error, in bytes.
const maxErrorBody = 64 << 10

// The bounds of a list of models: the wait for it, and its bytes.
const (
	listTimeout  = 10 * time.Second
	MaxListBytes = 8 << 20
)

// Fetch returns the body of the answer that send gets, within the bounds of a list of models.
func (s *Server) Fetch(parent context.Context, send func(ctx context.Context) (*http.Response, error)) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(parent, listTimeout, ErrIdle)
	defer cancel()
	res, err := send(ctx)
	var body []byte
	if err == nil {
		defer CloseBody(res)
		body, err = io.ReadAll(io.LimitReader(res.Body, MaxListBytes))
	}
	switch {
	case err == nil:
		return bytes.TrimSpace(body), nil
	case parent.Err() != nil:
		return nil, parent.Err()
	}
	return nil, s.RequestError(ctx, err)
}

// CloseBody closes the body of an answer, if there is one.
func CloseBody(res *http.Response) {
	if res != nil && res.Body != nil {
		_ = res.Body.Close()
	}
}

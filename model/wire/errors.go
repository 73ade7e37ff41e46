package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"acp-agent/model"
)

// StatusError says what an answer with that status means (R140).
func (s *Server) StatusError(status int, header http.Header, body []byte) *model.Error {
	d := ParseDetail(body)
	d.Message = s.Clean(d.Message)
	e := s.meaning(status, d)
	e.RetryAfter = wait(header, d, time.Now())
	e.Message = fmt.Sprintf("model server answered %d %s", status, http.StatusText(status))
	if d.Message != "" {
		e.Message += ": " + d.Message
	}
	return e
}

// meaning sorts an error by its status and by what the server says of it.
func (s *Server) meaning(status int, d *Detail) *model.Error {
	e := &model.Error{Status: status, Err: d}
	e.Kind, e.Hint = s.classify(status, d)
	e.Busy = e.Kind == model.Transient && d.Busy(status)
	return e
}

// classify is the kind of an error and what to do about it. The order matters: a status is
// often too coarse.
func (s *Server) classify(status int, d *Detail) (model.ErrorKind, string) {
	switch {
	case d.Overflow(status):
		return model.Overflow, ""
	case status == 402 || d.OutOfQuota():
		return model.Auth, "the account has no credit left; waiting does not help"
	case d.usedUp():
		return model.Invalid, "the allowance of this model is used up until the server renews it; choose another model"
	case status == 401 || status == 403 || status == 407:
		return model.Auth, s.KeyHint
	case status == 404 && strings.Contains(strings.ToLower(d.Message), "model"):
		return model.Invalid, s.ModelHint
	case status == 404 || status == 405:
		return model.Invalid, s.BaseHint()
	case d.unloadable():
		return model.Invalid, "the server cannot load this model; choose a smaller one, or see the server's own log"
	case d.Busy(status), status == 408 || status == 409 || status == 425:
		return model.Transient, ""
	case status >= 500 && status != 501 && status != 505:
		return model.Transient, ""
	case d.Contains("does not support tools"):
		return model.Invalid, "choose a model that can call tools"
	}
	return model.Invalid, ""
}

// BaseHint says what to do about an address that is none of a model server.
func (s *Server) BaseHint() string {
	if s.PathHint != "" && strings.Trim(s.Base.Path, "/") == "" {
		return s.PathHint
	}
	return "check the base URL"
}

// statusOf are the statuses that errors of a type have when they come before the answer
// (platform.claude.com/docs/en/api/errors).
var statusOf = map[string]int{"overloaded_error": statusOverloaded, "rate_limit_error": 429}

// EventError says what an error within a stream means. Its status is the code
// in the error, if that is one.
func (s *Server) EventError(data []byte) *model.Error {
	d := ParseDetail(data)
	d.Message = s.Clean(d.Message)
	if d.Message == "" {
		d.Message = "the model server broke the answer off with an error"
	}
	status, _ := strconv.Atoi(d.Code)
	if status == 0 {
		status = statusOf[d.Label()]
	}
	var e *model.Error
	switch {
	case status >= 400 && status <= 599:
		e = s.meaning(status, d)
	case d.Overflow(0):
		e = &model.Error{Kind: model.Overflow}
	case d.OutOfQuota():
		e = s.meaning(402, d)
		e.Status = 0
	case slices.Contains([]string{"authentication_error", "permission_error", "invalid_api_key"}, d.Label()):
		e = s.meaning(401, d)
		e.Status = 0
	case strings.HasPrefix(d.Label(), "invalid_") || d.Label() == "bad_request_error":
		e = &model.Error{Kind: model.Invalid}
	default:
		e = &model.Error{Busy: d.Busy(0)}
	}
	e.Message, e.RetryAfter, e.Err = d.Message, wait(nil, d, time.Now()), d
	return e
}

// RequestError says why a request got no answer.
func (s *Server) RequestError(ctx context.Context, err error) error {
	var known *model.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(context.Cause(ctx), ErrIdle):
		return &model.Error{Kind: model.Transient, Message: "the model server does not answer", Hint: s.unreachableHint(), TimedOut: true, Err: ErrIdle}
	}
	reason, hint := s.reason(err)
	return &model.Error{Kind: model.Transient, Message: "no answer from the model server: " + reason, Hint: hint, Err: innermost(err)}
}

// reason words a failure of the connection. The text of a *url.Error is never
// used: it holds the address with its query.
func (s *Server) reason(err error) (reason, hint string) {
	var (
		dns       *net.DNSError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
		timeout   net.Error
	)
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the host %q was not found", s.Base.Hostname()), "check the base URL and the network"
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s", s.Base.Host), s.unreachableHint()
	case errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &invalid):
		return s.Clean(innermost(err).Error()), "the server's certificate was not accepted"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "it does not speak TLS", "should the base URL begin with http:// ?"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed", ""
	case errors.Is(err, syscall.ECONNRESET):
		return "the connection was reset", ""
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it took too long to connect", s.unreachableHint()
	}
	return s.Clean(innermost(err).Error()), ""
}

func (s *Server) unreachableHint() string {
	if s.Local {
		return "is the model server running?"
	}
	return ""
}

// innermost is err without the address of the request.
func innermost(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

package openai

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

// statusError says what an answer with that status means (R140).
func (p *Provider) statusError(status int, header http.Header, body []byte) *model.Error {
	d := parseDetail(body)
	d.message = p.clean(d.message)
	e := &model.Error{Status: status, RetryAfter: retryAfter(header, time.Now()), Err: d}
	e.Kind, e.Hint = p.classify(status, d)
	e.Message = fmt.Sprintf("model server answered %d %s", status, http.StatusText(status))
	if d.message != "" {
		e.Message += ": " + d.message
	}
	return e
}

// classify sorts an error by its status and by what the server says of it. The
// order matters: a status is often too coarse.
func (p *Provider) classify(status int, d *detail) (model.ErrorKind, string) {
	switch {
	case d.overflow(status):
		return model.Overflow, ""
	case status == 402 || d.outOfQuota():
		return model.Auth, "the account has no credit left; waiting does not help"
	case status == 401 || status == 403 || status == 407:
		return model.Auth, "check OPENAI_API_KEY, or the key in the configuration"
	case status == 404 && strings.Contains(strings.ToLower(d.message), "model"):
		return model.Invalid, "choose a model that the server offers, with OPENAI_MODEL or in the configuration"
	case status == 404 || status == 405:
		return model.Invalid, p.baseHint()
	case status == 408 || status == 409 || status == 425 || status == 429 || status == 529:
		return model.Transient, ""
	case status >= 500 && status != 501 && status != 505:
		return model.Transient, ""
	case d.contains("does not support tools"):
		return model.Invalid, "choose a model that can call tools"
	}
	return model.Invalid, ""
}

func (p *Provider) baseHint() string {
	if strings.Trim(p.base.Path, "/") == "" {
		return "the base URL has no path; most servers want one that ends in /v1"
	}
	return "check the base URL"
}

// eventError says what an error within a stream means. Its status is the code
// in the error, if that is one.
func (p *Provider) eventError(data []byte) *model.Error {
	d := parseDetail(data)
	d.message = p.clean(d.message)
	if d.message == "" {
		d.message = "the model server broke the answer off with an error"
	}
	e := &model.Error{Message: d.message, Err: d}
	status, _ := strconv.Atoi(d.code)
	switch {
	case status >= 400 && status <= 599:
		e.Status = status
		e.Kind, e.Hint = p.classify(status, d)
	case d.overflow(0):
		e.Kind = model.Overflow
	case d.outOfQuota():
		e.Kind, e.Hint = p.classify(402, d)
	case slices.Contains([]string{"authentication_error", "permission_error", "invalid_api_key"}, d.label()):
		e.Kind, e.Hint = p.classify(401, d)
	case strings.HasPrefix(d.label(), "invalid_") || d.label() == "bad_request_error":
		e.Kind = model.Invalid
	}
	return e
}

// retryAfter reads what the server asks for: milliseconds, seconds or a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	const longest = 24 * time.Hour
	read := func(text string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0) {
			return 0, false
		}
		return time.Duration(min(n*float64(unit), float64(longest))), true
	}
	if d, ok := read(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	text := header.Get("Retry-After")
	if d, ok := read(text, time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), longest)
	}
	return 0
}

// requestError says why a request got no answer.
func (p *Provider) requestError(ctx context.Context, err error) error {
	var known *model.Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(context.Cause(ctx), errIdle):
		return &model.Error{Kind: model.Transient, Message: "the model server does not answer", Hint: p.unreachableHint(), Err: errIdle}
	}
	reason, hint := p.reason(err)
	return &model.Error{Kind: model.Transient, Message: "no answer from the model server: " + reason, Hint: hint, Err: innermost(err)}
}

// reason words a failure of the connection. The text of a *url.Error is never
// used: it holds the address with its query.
func (p *Provider) reason(err error) (reason, hint string) {
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
		return fmt.Sprintf("the host %q was not found", p.base.Hostname()), "check the base URL and the network"
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing listens at %s", p.base.Host), p.unreachableHint()
	case errors.As(err, &authority), errors.As(err, &hostname), errors.As(err, &invalid):
		return p.clean(innermost(err).Error()), "the server's certificate was not accepted"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "it does not speak TLS", "should the base URL begin with http:// ?"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed", ""
	case errors.Is(err, syscall.ECONNRESET):
		return "the connection was reset", ""
	case errors.As(err, &timeout) && timeout.Timeout():
		return "it took too long to connect", p.unreachableHint()
	}
	return p.clean(innermost(err).Error()), ""
}

func (p *Provider) unreachableHint() string {
	if p.local {
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

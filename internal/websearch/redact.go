package websearch

import (
	"context"
	"errors"
	"net/url"
	"strings"
)

// redacted stands for a key.
const redacted = "[redacted]"

// keyless takes the key of a provider out of its results and errors: an answer, or the error of a
// request, may repeat what was sent.
type keyless struct {
	Provider
	key string
}

// Search implements [Provider].
func (k keyless) Search(ctx context.Context, do Do, query string, limit int) ([]Result, error) {
	results, err := k.Provider.Search(ctx, do, query, limit)
	for i, r := range results {
		results[i] = Result{Title: redact(r.Title, k.key), URL: redact(r.URL, k.key), Snippet: redact(r.Snippet, k.key)}
	}
	if err == nil || !holds(err, k.key) {
		return results, err
	}
	return nil, &keylessError{text: redact(err.Error(), k.key), err: err}
}

// keylessError is an error without the key. It does not unwrap, because the error below holds the
// key; Is still says what kind of error it is.
type keylessError struct {
	text string
	err  error
}

func (e *keylessError) Error() string { return e.text }

// Is reports whether the error below is target, for targets that hold no key.
func (e *keylessError) Is(target error) bool {
	switch target {
	case ErrAuth, ErrRateLimited, context.Canceled, context.DeadlineExceeded:
		return errors.Is(e.err, target)
	}
	return false
}

// holds reports whether an error, or one that it was made of, repeats the key.
func holds(err error, key string) bool {
	if redact(err.Error(), key) != err.Error() {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inner := e.Unwrap()
		return inner != nil && holds(inner, key)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if holds(inner, key) {
				return true
			}
		}
	}
	return false
}

// redact takes a key out of a text, as it is and as it is escaped in addresses. A
// text that still holds it, in another spelling, is not shown at all.
func redact(text, key string) string {
	for _, form := range []string{key, url.QueryEscape(key), url.PathEscape(key)} {
		text = strings.ReplaceAll(text, form, redacted)
	}
	if strings.Contains(unescape(text), key) {
		return redacted
	}
	return text
}

// unescape reads what is escaped in an address, and leaves the rest as it is.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if i+2 < len(text) && text[i] == '%' {
			if c, err := url.PathUnescape(text[i : i+3]); err == nil {
				b.WriteString(c)
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

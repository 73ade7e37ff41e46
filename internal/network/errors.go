package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// BlockedError says that a request was refused by rule; nothing was sent to the
// host. Its texts hold no query, user name or password.
type BlockedError struct {
	// URL is the address that was refused, of a redirect too.
	URL string
	// Host is the host in its normal form, "" when the address has none.
	Host string
	// Reason completes "<URL>: ...".
	Reason string
	// Private means that a grant of Pair would allow it.
	Private bool
	// Pair is host:port, "" when the address has none.
	Pair string
}

// Error says what was refused, why, and what a user can do about it.
func (e *BlockedError) Error() string {
	text := fmt.Sprintf("%s was not fetched: %s", e.URL, e.Reason)
	if e.Private {
		text += fmt.Sprintf("; a user can allow the pair %s with web.private in the user's configuration", e.Pair)
	}
	return text
}

// errSlow is the cause when the client's own time limit ends an exchange.
var errSlow = errors.New("the time limit is over")

// failure explains why an exchange ended: the caller's cancel as it is, the time
// limit, a refusal, or what the network said.
func failure(ctx context.Context, t Target, limit time.Duration, err error) error {
	if blocked, ok := errors.AsType[*BlockedError](err); ok {
		return blocked // a redirect that was refused names itself
	}
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); !errors.Is(cause, errSlow) {
			return fmt.Errorf("get %s: %w", t.shown(), cause)
		}
		return fmt.Errorf("get %s: no complete answer within %v: %w", t.shown(), limit, context.DeadlineExceeded)
	}
	if blocked, ok := errors.AsType[*addressError](err); ok {
		return t.blocked(blocked.Error(), true)
	}
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		// Its own text names the resolver, which is no one's business.
		return &lookupError{fmt.Sprintf("get %s: look up %s: %s", t.shown(), t.Host, lookup.Err), err}
	}
	return fmt.Errorf("get %s: %w", t.shown(), err)
}

// blocked is the refusal of a target.
func (t Target) blocked(reason string, private bool) *BlockedError {
	return &BlockedError{URL: t.shown(), Host: t.Host, Reason: reason, Private: private, Pair: t.Pair()}
}

// lookupError is an error of the resolver with a text of ours.
type lookupError struct {
	text string
	err  error
}

func (e *lookupError) Error() string { return e.text }
func (e *lookupError) Unwrap() error { return e.err }

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"acp-agent/kinds"
	"acp-agent/mcp/oauth"
)

// signer is the state of a link about signing in to its server.
type signer struct {
	account *oauth.Account // nil where no one signs in
	barred  error          // why no user can
	wake    chan struct{}  // a token when the server is to be tried again at once
	peek    chan struct{}  // a token when the user may have signed in elsewhere

	// Guarded by the link's mu.
	moved     chan struct{} // closed when the state is set, or looking is
	checking  bool          // a check for a sign-in elsewhere is running
	challenge http.Header   // of the answer that wants a sign-in; nil for none
	near      bool          // the server was at an address that is not public
}

func newSigner(account *oauth.Account, barred error) signer {
	return signer{account: account, barred: barred, wake: make(chan struct{}, 1), peek: make(chan struct{}, 1), moved: make(chan struct{})}
}

// signal wakes all goroutines that await another state; the link's mu is held.
func (s *signer) signal() {
	close(s.moved)
	s.moved = make(chan struct{})
}

// The errors of signing in and out.
var (
	errNoServers = errors.New("there are no MCP servers here")
	errNotAsked  = errors.New("it did not ask anybody to sign in")
)

// signable is the server of a name that the user can sign in to.
func (m *Manager) signable(name string) (*link, error) {
	var others []string
	for _, l := range m.all() {
		switch {
		case l.server.Name != name && l.id != name || l.taken():
			others = append(others, kinds.Line(l.server.Name, maxFieldText))
		case l.account == nil:
			return nil, fmt.Errorf("nobody can sign in to it: %w", l.barred)
		default:
			return l, nil
		}
	}
	if len(others) == 0 {
		return nil, errNoServers
	}
	return nil, fmt.Errorf("there is no such server; there are %s", strings.Join(others, ", "))
}

// SignIn has a user sign in to a server by its name, and connects to it again. show has
// the user open an address; see oauth.Request. It returns when the server stands where it
// will stand: Status says how.
func (m *Manager) SignIn(ctx context.Context, name string, show func(ctx context.Context, address string) error) error {
	l, err := m.signable(name)
	if err != nil {
		return err
	}
	l.await(ctx)
	l.mu.Lock()
	challenge, near := l.challenge, l.near
	l.mu.Unlock()
	if challenge == nil {
		if token, err := l.account.Token(ctx); err != nil || token != "" {
			return err // the user has
		}
		return l.notAsked()
	}
	if err := l.account.SignIn(ctx, oauth.Request{Challenge: challenge, Near: near, Show: show}); err != nil {
		return err
	}
	l.restart()
	l.await(ctx)
	return nil
}

// notAsked says why no one can sign in to a server that did not ask for it.
func (l *link) notAsked() error {
	if status := l.status(); status.State == Failed {
		return fmt.Errorf("%w: %s", errNotAsked, status.Problem)
	}
	return errNotAsked
}

// SignOut forgets the token of a server, and ends its connection; had says whether there
// was one.
func (m *Manager) SignOut(ctx context.Context, name string) (had bool, err error) {
	l, err := m.signable(name)
	if err != nil {
		return false, err
	}
	if had, err = l.account.SignOut(ctx); err != nil || !had {
		return had, err
	}
	l.restart()
	l.await(ctx)
	return true, nil
}

// checkForSignIn has a server that waits for a sign-in tried again when it has happened
// elsewhere, such as in a terminal. It does not wait.
func (l *link) checkForSignIn() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != SignIn || l.checking {
		return
	}
	l.checking = true
	select {
	case l.peek <- struct{}{}:
	default: // it will be
	}
}

func (l *link) isChecking() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.checking
}

// signInChecked says that it is known whether the user has signed in elsewhere.
func (l *link) signInChecked() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checking = false
	l.signal()
}

// restEnd is why a rest ended.
type restEnd int

const (
	elapsed   restEnd = iota // the wait is over
	restarted                // the user signed in or out, or a restart was asked for
	ended                    // the server is no longer wanted
)

// rest waits until the server is to be tried again: after a wait, or when the user has signed
// in where that is needed.
func (l *link) rest(ctx context.Context, wait time.Duration, err error) restEnd {
	defer l.signInChecked()
	var timer <-chan time.Time // never fires where the user has to sign in
	if stateAfter(err) != SignIn {
		timer = time.After(wait)
	}
	for {
		select {
		case <-timer:
			l.set(Connecting, err)
			return elapsed
		case <-l.wake:
			l.set(Connecting, nil)
			return restarted
		case <-l.peek:
			if l.account.Changed(ctx) {
				l.set(Connecting, nil)
				return restarted
			}
			l.signInChecked()
		case <-ctx.Done():
			return ended
		}
	}
}

// restart connects the server again at once, whatever it does now. The state changes before
// the link's goroutine can see the wake-up: the other way round, a fast connection would be
// ready first, and then count as connecting for as long as it lasts.
func (l *link) restart() {
	l.mu.Lock()
	live := l.live
	l.problem, l.challenge = nil, nil
	l.enter(Connecting, nil)
	select {
	case l.wake <- struct{}{}:
	default: // a restart is pending already
	}
	l.mu.Unlock()
	if live != nil {
		live.abort()
	}
}

// await waits until it is known how the server stands, or ctx ends.
func (l *link) await(ctx context.Context) {
	for {
		l.mu.Lock()
		known, moved := l.state != Connecting && !l.checking, l.moved
		l.mu.Unlock()
		if known {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

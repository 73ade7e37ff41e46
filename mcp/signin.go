package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"acp-agent/internal/network"
	"acp-agent/kinds"
	"acp-agent/mcp/oauth"
	"acp-agent/tools"
)

// signInError is errRefused where a person can do something about it.
type signInError struct{ name string }

func (e *signInError) Error() string {
	return fmt.Sprintf("%v: sign in with /mcp login %s", errRefused, kinds.Line(e.name, maxFieldText))
}

func (e *signInError) Unwrap() error { return errRefused }

// fate is the state that an error leads to.
func fate(err error) State {
	if _, ok := errors.AsType[*signInError](err); ok {
		return SignIn
	}
	return Failed
}

// account is the person's account with a server, nil where nobody signs in.
func (m *Manager) account(s *Server) *oauth.Account {
	if s.Command != "" || s.Anonymous || m.o.Tokens == nil {
		return nil
	}
	for name := range s.Header {
		if strings.EqualFold(name, "Authorization") {
			return nil
		}
	}
	account, err := oauth.New(s.URL, oauth.Options{Client: s.Client, Store: m.o.Tokens, Keep: m.o.Keep})
	if err != nil {
		return nil // such as http: a 401 is then the end of it
	}
	return account
}

// signer is what a link knows of signing in to its server.
type signer struct {
	account *oauth.Account // nil where nobody signs in
	wake    chan struct{}  // a token when the server is to be tried again at once
	peek    chan struct{}  // a token when somebody may have signed in elsewhere

	// Guarded by the link's mu.
	moved     chan struct{} // closed when the state is set
	challenge http.Header   // of the answer that wants somebody to sign in; nil for none
	near      bool          // the server was at an address that is not public
}

func newSigner(account *oauth.Account) signer {
	return signer{account: account, wake: make(chan struct{}, 1), peek: make(chan struct{}, 1), moved: make(chan struct{})}
}

// move wakes those who wait for another state; the link's mu is held.
func (s *signer) move() {
	close(s.moved)
	s.moved = make(chan struct{})
}

// signing is what a connection knows of it; without a link nobody signs in.
type signing struct {
	link  *link
	asked atomic.Bool // the server wants somebody to sign in
	near  atomic.Bool
}

// authorized sends a request with the token of whoever signed in. When the server refuses
// it, another token is asked for, once, and the request is sent once more (R92).
func (r *remote) authorized(request *http.Request) (*http.Response, error) {
	if r.link == nil || r.link.account == nil {
		return r.base.RoundTrip(request)
	}
	token, err := r.link.account.Token(r.ctx)
	if err != nil {
		return nil, err
	}
	answer, err := r.with(request, token)
	if err == nil && answer.StatusCode == http.StatusUnauthorized && token != "" {
		answer, err = r.again(request, answer, token)
	}
	if err == nil && wantsSignIn(answer) {
		r.link.mu.Lock()
		r.link.challenge, r.link.near = answer.Header, r.near.Load()
		r.link.mu.Unlock()
		r.asked.Store(true)
	}
	return answer, err
}

// with sends a request with a token, and notes whether it goes to a public address.
func (r *remote) with(request *http.Request, token string) (*http.Response, error) {
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if proxy, err := http.ProxyFromEnvironment(request); err == nil && proxy == nil {
		ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
			if to, err := netip.ParseAddrPort(c.Conn.RemoteAddr().String()); err == nil {
				r.near.Store(network.Judge(to.Addr()) != "")
			}
		}})
		request = request.WithContext(ctx)
	}
	return r.base.RoundTrip(request)
}

// again sends a request whose token was refused with another one; where there is none the
// answer stands.
func (r *remote) again(request *http.Request, answer *http.Response, refused string) (*http.Response, error) {
	if request.Body != nil && request.GetBody == nil {
		return answer, nil
	}
	token, err := r.link.account.Renew(r.ctx, refused)
	if err != nil {
		_ = answer.Body.Close() // it is not read
		return nil, err
	}
	if token == "" {
		return answer, nil
	}
	_ = answer.Body.Close()
	if request.GetBody != nil {
		if request.Body, err = request.GetBody(); err != nil {
			return nil, err
		}
	}
	return r.with(request, token)
}

// wantsSignIn reports whether an answer is one that a sign-in can change.
func wantsSignIn(answer *http.Response) bool {
	return answer.StatusCode == http.StatusUnauthorized ||
		answer.StatusCode == http.StatusForbidden && strings.Contains(strings.Join(answer.Header["Www-Authenticate"], " "), "insufficient_scope")
}

// refusal is how a connection ended that the server refused.
func (r *remote) refusal() error {
	if !r.asked.Load() {
		return errRefused
	}
	return &signInError{r.link.server.Name}
}

// refused is the error of a call that the server refuses, as the model reads it.
func (l *link) refused(kind tools.ErrorKind, why error) error {
	failure := &tools.Error{Kind: kind, Message: fmt.Sprintf("mcp server %s: %v", l.id, errRefused), Err: why}
	if fate(why) == SignIn {
		failure.Hint = fmt.Sprintf("Only the person can sign in, with /mcp login %s. Do not try again before they have.", kinds.Line(l.server.Name, maxFieldText))
	}
	return failure
}

// The errors of signing in and out.
var (
	errNoServer  = errors.New("there is no such server")
	errNoAccount = errors.New("nobody can sign in to it: it is a program, its configuration has a key, or sign-in is turned off")
	errNotAsked  = errors.New("it did not ask anybody to sign in")
)

// signable is the server of a name that somebody can sign in to.
func (m *Manager) signable(name string) (*link, error) {
	for _, l := range m.all() {
		switch {
		case l.server.Name != name && l.id != name || l.taken():
		case l.account == nil:
			return nil, errNoAccount
		default:
			return l, nil
		}
	}
	return nil, errNoServer
}

// SignIn has a person sign in to a server by its name, and connects to it again. show has
// the person open an address; see oauth.Request. It returns when the server stands where it
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
		return errNotAsked
	}
	if err := l.account.SignIn(ctx, oauth.Request{Challenge: challenge, Near: near, Show: show}); err != nil {
		return err
	}
	l.restart()
	l.await(ctx)
	return nil
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

// look has a server that waits for somebody to sign in tried again when they have done so
// elsewhere, such as in a terminal. It does not wait.
func (l *link) look() {
	if l.now() != SignIn {
		return
	}
	l.set(Connecting, nil)
	select {
	case l.peek <- struct{}{}:
	default: // it will be
	}
}

// rest waits until the server is to be tried again: by the ladder, or where somebody has to
// sign in, when they have. It returns the number of the attempt, -1 when ctx has ended.
func (l *link) rest(ctx context.Context, attempt int, err error) int {
	var wait <-chan time.Time // never, where somebody has to sign in
	if fate(err) != SignIn {
		wait = time.After(ladder[min(attempt, len(ladder)-1)])
	}
	for {
		select {
		case <-wait:
			l.set(Connecting, err)
			return attempt + 1
		case <-l.wake:
			l.set(Connecting, nil)
			return 0
		case <-l.peek:
			if l.account.Changed(ctx) {
				return 0
			}
			l.set(fate(err), err)
		case <-ctx.Done():
			return -1
		}
	}
}

// restart has the server connected again at once, whatever it does now.
func (l *link) restart() {
	l.mu.Lock()
	live := l.live
	l.problem, l.challenge = nil, nil
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it will be
	}
	l.set(Connecting, nil)
	if live != nil {
		live.abort()
	}
}

// now is the state.
func (l *link) now() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// await waits until it is known how the server stands, or ctx ends.
func (l *link) await(ctx context.Context) {
	for {
		l.mu.Lock()
		state, moved := l.state, l.moved
		l.mu.Unlock()
		if state != Connecting {
			return
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return
		}
	}
}

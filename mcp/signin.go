package mcp

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strings"
	"sync/atomic"

	"acp-agent/internal/network"
	"acp-agent/kinds"
	"acp-agent/mcp/oauth"
	"acp-agent/tools"
)

// signInError is errRefused where a user can do something about it.
type signInError struct{ name string }

func (e *signInError) Error() string {
	return fmt.Sprintf("%v: sign in with /mcp login %s", errRefused, kinds.Line(e.name, maxFieldText))
}

func (e *signInError) Unwrap() error { return errRefused }

// stateAfter is the state that an error leads to.
func stateAfter(err error) State {
	if _, ok := errors.AsType[*signInError](err); ok {
		return SignIn
	}
	return Failed
}

// The reasons why no one signs in to a server; a 401 is then the end of it.
var (
	errProgram   = errors.New("it is a program, which is given keys as variables")
	errAnonymous = errors.New("its configuration turns signing in off")
	errHasKey    = errors.New("its configuration has an Authorization header")
	errNoTokens  = errors.New("no token can be kept here")
)

// account is the user's account with a server. The error says why no one signs in.
func (m *Manager) account(s *Server, keep func(tokens ...string)) (*oauth.Account, error) {
	switch {
	case s.Command != "":
		return nil, errProgram
	case s.Anonymous:
		return nil, errAnonymous
	case m.o.Tokens == nil:
		return nil, errNoTokens
	}
	for name := range s.Header {
		if strings.EqualFold(name, "Authorization") {
			return nil, errHasKey
		}
	}
	return oauth.New(s.URL, oauth.Options{Client: s.Client, Store: m.o.Tokens, Redact: keep})
}

// signing is what a connection knows of it; without a link no one signs in.
type signing struct {
	link  *link
	asked atomic.Bool // the server wants a sign-in
	near  atomic.Bool
}

// authorized sends a request with the token of the sign-in. When the server refuses
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
		r.link.account.Refused(r.ctx, strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer "))
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
	if stateAfter(why) == SignIn {
		failure.Detail = fmt.Sprintf("Only the user can sign in, with /mcp login %s.", kinds.Line(l.server.Name, maxFieldText))
		failure.Hint = "Do not try again before they have."
	}
	return failure
}

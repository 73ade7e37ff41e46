package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// early is how long before its end a token is renewed.
const early = 10 * time.Second

// Store keeps tokens by name. Its methods are safe for concurrent use, also by several
// processes.
type Store interface {
	// Load returns what is kept, nil when that is nothing.
	Load(ctx context.Context, name string) ([]byte, error)
	// Update calls change with what is kept at that moment, under a lock, and keeps what it
	// returns; nil is nothing.
	Update(ctx context.Context, name string, change func(kept []byte) ([]byte, error)) error
}

// Client is the agent as it was registered with a server by hand. The zero value means that
// it registers itself when the user signs in.
type Client struct {
	ID, Secret string
	// Issuer is the authorization server that knows it, and gets its secret; "" means
	// whichever the server names.
	Issuer string
	// Scopes are what is asked for; none means what the server says.
	Scopes []string
}

// Options are what an Account works with.
type Options struct {
	Client Client
	Store  Store
	// Redact is called with each token, so that it is taken out of all that is shown; nil means no
	// call.
	Redact func(secrets ...string)
}

// Account is a user's account with one server. Its methods are safe for concurrent use.
type Account struct {
	o      Options
	server *url.URL
	origin string // canonical address of the server
	name   string // of its token in the store

	busy  chan struct{} // a token while no one uses what follows
	read  bool          // the store was
	grant *grant        // nil while no one has signed in
	// refused is the last token that the server did not take.
	refused string
}

// grant is what a sign-in gave, as it is kept.
type grant struct {
	Server   string           `json:"server"`
	ClientID string           `json:"client_id"`
	Secret   string           `json:"client_secret,omitempty"` // of a client that registered itself
	TokenURL string           `json:"token_url"`
	Style    oauth2.AuthStyle `json:"auth_style"`
	Resource string           `json:"resource,omitempty"`
	Near     bool             `json:"near,omitempty"`
	Access   string           `json:"access_token"`
	Refresh  string           `json:"refresh_token,omitempty"`
	Expiry   time.Time        `json:"expiry,omitzero"`
}

// New returns the account with the server at an https address, or at one of this machine
// that is http. It asks no one.
func New(server string, o Options) (*Account, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return nil, errors.New("a token is sent to https addresses only")
	}
	a := &Account{o: o, server: u, origin: canonical(u), busy: make(chan struct{}, 1)}
	a.name = a.origin + "\n" + o.Client.ID
	a.busy <- struct{}{}
	return a, nil
}

// canonical is an address as tokens are bound to it: two spellings of one server are one.
func canonical(u *url.URL) string {
	c := url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: strings.TrimSuffix(u.Path, "/"), RawQuery: u.RawQuery}
	if port := c.Port(); c.Scheme == "https" && port == "443" || c.Scheme == "http" && port == "80" {
		c.Host = strings.TrimSuffix(c.Host, ":"+port)
	}
	return c.String()
}

// take waits for the account and holds it; give releases it.
func (a *Account) take(ctx context.Context) error {
	select {
	case <-a.busy:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *Account) give() { a.busy <- struct{}{} }

// Token is the token to send to the server, "" while no one has signed in. One that has
// expired is renewed first.
func (a *Account) Token(ctx context.Context) (string, error) {
	if err := a.take(ctx); err != nil {
		return "", err
	}
	defer a.give()
	if !a.read {
		kept, err := a.o.Store.Load(ctx, a.name)
		if err != nil {
			return "", fmt.Errorf("the token kept for it cannot be read: %w", err)
		}
		a.use(a.decode(kept))
	}
	switch {
	case a.grant == nil:
		return "", nil
	case a.grant.expired() && a.grant.Refresh != "":
		return a.renew(ctx, a.grant.Access)
	}
	return a.grant.Access, nil
}

// Renew returns another token after the server refused one, "" when there is none and
// the user has to sign in. Another session or process may have it already, and then no one
// is asked (R92).
func (a *Account) Renew(ctx context.Context, refused string) (string, error) {
	if err := a.take(ctx); err != nil {
		return "", err
	}
	defer a.give()
	if a.grant != nil && a.grant.Access != refused {
		return a.grant.Access, nil
	}
	return a.renew(ctx, refused)
}

// Refused notes that the server does not take a token and wants the user to sign in, though
// the store may go on to have it.
func (a *Account) Refused(ctx context.Context, token string) {
	if token == "" || a.take(ctx) != nil {
		return
	}
	defer a.give()
	a.refused = token
}

// Changed reports whether the store has another token than the one that was refused last:
// the user has signed in elsewhere.
func (a *Account) Changed(ctx context.Context) bool {
	if a.take(ctx) != nil {
		return false
	}
	defer a.give()
	kept, err := a.o.Store.Load(ctx, a.name)
	if err != nil {
		return false
	}
	fresh := a.decode(kept)
	if fresh == nil || fresh.Access == a.refused {
		return false
	}
	a.use(fresh)
	return true
}

// SignOut forgets the token here; had says whether there was one. The server is not told.
func (a *Account) SignOut(ctx context.Context) (had bool, err error) {
	if err := a.take(ctx); err != nil {
		return false, err
	}
	defer a.give()
	err = a.o.Store.Update(ctx, a.name, func(kept []byte) ([]byte, error) {
		had = a.decode(kept) != nil
		return nil, nil
	})
	if err == nil {
		a.use(nil)
	}
	return had, err
}

// use makes a grant the one in use; the account is taken.
func (a *Account) use(g *grant) {
	a.read, a.grant = true, g
	if g != nil && a.o.Redact != nil {
		a.o.Redact(g.Access, g.Refresh, g.Secret)
	}
}

// decode reads a grant that is kept. One of another server or client is none.
func (a *Account) decode(kept []byte) *grant {
	g := &grant{}
	if kept == nil || json.Unmarshal(kept, g) != nil || g.Access == "" || g.Server != a.origin {
		return nil
	}
	if a.o.Client.ID != "" && g.ClientID != a.o.Client.ID {
		return nil
	}
	return g
}

func (g *grant) expired() bool { return !g.Expiry.IsZero() && time.Now().Add(early).After(g.Expiry) }

package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"acp-agent/kinds"
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
// it registers itself when somebody signs in.
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
	// Keep is told of each token, so that it is shown to nobody; nil means that nobody is.
	Keep func(secrets ...string)
}

// Account is a person's account with one server. Its methods are safe for concurrent use.
type Account struct {
	o      Options
	server *url.URL
	origin string // canonical address of the server
	name   string // of its token in the store

	busy  chan struct{} // a token while nobody uses what follows
	read  bool          // the store was
	grant *grant        // nil while nobody has signed in
	// refused is the last token that had to be replaced.
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
// that is http. It asks nobody.
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

// take waits for the account; give lets go of it.
func (a *Account) take(ctx context.Context) error {
	select {
	case <-a.busy:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (a *Account) give() { a.busy <- struct{}{} }

// Token is the token to send to the server, "" while nobody has signed in. One that has
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
// somebody has to sign in. Another session or process may have it already, and then nobody
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

// Changed reports whether the store has another token than the one that was refused last:
// somebody has signed in elsewhere.
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
	if g != nil && a.o.Keep != nil {
		a.o.Keep(g.Access, g.Refresh, g.Secret)
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

// renew replaces a token, unless the store has a newer one; the account is taken.
func (a *Account) renew(ctx context.Context, refused string) (string, error) {
	a.refused = refused
	err := a.o.Store.Update(ctx, a.name, func(kept []byte) ([]byte, error) {
		g := a.decode(kept)
		switch {
		case g == nil:
			a.use(nil) // signed out elsewhere
			return nil, nil
		case g.Access != refused && !g.expired():
			a.use(g)
			return kept, nil
		case g.Refresh == "":
			a.use(nil)
			return kept, nil // whoever signs in replaces it
		}
		fresh, err := a.refresh(ctx, g)
		if refusal(err) {
			a.use(nil)
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		a.use(fresh) // also when it cannot be kept
		return json.Marshal(fresh)
	})
	if err != nil {
		return "", fmt.Errorf("its token was not renewed: %w", err)
	}
	if a.grant == nil {
		return "", nil
	}
	return a.grant.Access, nil
}

// refresh asks for another token, once.
func (a *Account) refresh(ctx context.Context, g *grant) (*grant, error) {
	if err := a.judge(g.TokenURL); err != nil {
		return nil, err
	}
	guard := a.newGuard(g.Near)
	defer guard.close()
	config := oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.Secret,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: g.Style},
	}
	if a.o.Client.ID != "" {
		config.ClientSecret = a.o.Client.Secret
	}
	options := []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", g.Refresh)}
	if g.Resource != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", g.Resource))
	}
	// Not by a TokenSource, which names no resource. A code without a value counts as none.
	token, err := config.Exchange(context.WithValue(ctx, oauth2.HTTPClient, guard.client()), "", options...)
	if err != nil {
		return nil, discreet(err)
	}
	fresh := *g
	fresh.Access, fresh.Refresh, fresh.Expiry = token.AccessToken, token.RefreshToken, token.Expiry
	return &fresh, nil
}

// refusedError is the answer of a server that gives no token.
type refusedError struct {
	status int
	code   string
}

func (e *refusedError) Error() string {
	if e.code != "" {
		return fmt.Sprintf("the authorization server refused (%d, %s)", e.status, e.code)
	}
	return fmt.Sprintf("the authorization server refused (%d)", e.status)
}

// refusal reports whether an error is a refusal for good, and no failure that may pass.
func refusal(err error) bool {
	refused, ok := errors.AsType[*refusedError](err)
	return ok && refused.status/100 == 4 && refused.status != http.StatusRequestTimeout && refused.status != http.StatusTooManyRequests
}

// discreet is an error of the exchange without the answer's body and the address, in which
// tokens and keys may stand.
func discreet(err error) error {
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		refused := &refusedError{code: word(answer.ErrorCode)}
		if answer.Response != nil {
			refused.status = answer.Response.StatusCode
		}
		return refused
	}
	if exchange, ok := errors.AsType[*url.Error](err); ok {
		err = exchange.Err
	}
	return &said{err}
}

// said is an error in which words of the server may stand: it is one line, cut, and shows
// what cannot be seen.
type said struct{ error }

func (s *said) Error() string { return kinds.Line(s.error.Error(), maxSaid) }

func (s *said) Unwrap() error { return s.error }

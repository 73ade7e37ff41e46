package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// patience bounds a sign-in, from the request to the answer of the browser.
const patience = 5 * time.Minute

var errPatience = fmt.Errorf("nobody signed in within %v", patience)

// Request is a sign-in.
type Request struct {
	// Challenge is the header of the answer with which the server refused.
	Challenge http.Header
	// Near says that the server was reached at an address that is not public.
	Near bool
	// Show has the user open an address in a browser, and returns once they have it: it
	// is https, or http of this machine, and nothing in it is invisible. An error ends the
	// sign-in; ctx ends when the browser's answer has come.
	Show func(ctx context.Context, address string) error
}

// SignIn has the user sign in, and keeps the token. It waits for the browser's answer for
// at most five minutes, or until ctx ends.
func (a *Account) SignIn(ctx context.Context, r Request) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errPatience)
	defer cancel()
	err := a.signIn(ctx, r)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (a *Account) signIn(ctx context.Context, r Request) error {
	back, err := listen(ctx)
	if err != nil {
		return err
	}
	defer back.close()
	guard := a.newGuard(r.Near)
	defer guard.close()
	var fresh *grant
	var resource string
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back.address(), RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: guard.client(),
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			if u, err := url.Parse(args.URL); err == nil {
				resource = u.Query().Get("resource")
			}
			return a.fetch(ctx, args.URL, back, r.Show)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			fresh = a.granted(c, token, resource, r.Near)
			return oauth2.StaticTokenSource(token), nil
		},
	}
	a.register(config)
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return err
	}
	asked, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server.String(), nil)
	if err != nil {
		return err
	}
	refused := &http.Response{StatusCode: http.StatusUnauthorized, Header: r.Challenge, Body: http.NoBody}
	if err := handler.Authorize(ctx, asked, refused); err != nil {
		return withoutAnswer(err)
	}
	if fresh == nil || fresh.Access == "" {
		return errors.New("the authorization server gave no token")
	}
	return a.keep(ctx, fresh)
}

// register says as which client we sign in: the one of the configuration, or a new one.
func (a *Account) register(config *auth.AuthorizationCodeHandlerConfig) {
	if scopes := a.o.Client.Scopes; len(scopes) > 0 {
		config.ScopeFilter = func([]string) []string { return scopes }
	}
	if a.o.Client.ID != "" {
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: a.o.Client.ID, Issuer: a.o.Client.Issuer}
		if a.o.Client.Secret != "" {
			config.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: a.o.Client.Secret}
		}
		return
	}
	config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
		ClientName: "acp-agent", RedirectURIs: []string{config.RedirectURL}, TokenEndpointAuthMethod: "none",
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
	}}
}

// granted is what a sign-in gave. The secret of a client of the configuration stays there.
func (a *Account) granted(c *oauth2.Config, token *oauth2.Token, resource string, near bool) *grant {
	g := &grant{
		Server: a.origin, ClientID: c.ClientID, Secret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, Style: c.Endpoint.AuthStyle,
		Resource: resource, Near: near, Access: token.AccessToken, Refresh: token.RefreshToken, Expiry: token.Expiry,
	}
	if a.o.Client.ID != "" {
		g.Secret = ""
	}
	return g
}

// keep keeps what a sign-in gave, for this process and those to come.
func (a *Account) keep(ctx context.Context, fresh *grant) error {
	if err := a.take(ctx); err != nil {
		return err
	}
	defer a.give()
	a.use(fresh)
	err := a.o.Store.Update(ctx, a.name, func([]byte) ([]byte, error) { return json.Marshal(fresh) })
	if err != nil {
		a.use(nil)
		return fmt.Errorf("the token cannot be kept: %w", err)
	}
	return nil
}

// fetch shows the user the address and waits for the browser's answer, which may come
// before its caller reports that it was shown.
func (a *Account) fetch(ctx context.Context, address string, back *callback, show func(context.Context, string) error) (*auth.AuthorizationResult, error) {
	if err := a.judge(address); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	back.expect(u.Query().Get("state"))
	showing, shown := context.WithCancel(ctx)
	failed, ended := make(chan error, 1), make(chan struct{})
	go func() { // ends with showing
		defer close(ended)
		if err := show(showing, address); err != nil {
			failed <- err
		}
	}()
	defer func() {
		shown()
		<-ended
	}()
	select {
	case answer := <-back.answers:
		return result(answer)
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// result is the browser's answer.
func result(answer url.Values) (*auth.AuthorizationResult, error) {
	switch code := answer.Get("error"); {
	case code != "":
		return nil, fmt.Errorf("the sign-in was refused: %s", word(code))
	case answer.Get("code") == "":
		return nil, errNoCode
	}
	return &auth.AuthorizationResult{Code: answer.Get("code"), State: answer.Get("state"), Iss: answer.Get("iss")}, nil
}

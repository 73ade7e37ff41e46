package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"

	"acp-agent/kinds"
)

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
			return kept, nil // the next sign-in replaces it
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
		return nil, withoutAnswer(err)
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

// withoutAnswer is an error of the exchange without the answer's body and the address, in which
// tokens and keys may stand.
func withoutAnswer(err error) error {
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

package oauth_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/internal/testkit/mcptest"
	"acp-agent/internal/tokens"
	"acp-agent/mcp/oauth"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// begin signs in to a server; show stands for a user who opens the address.
func begin(t *testing.T, server *mcptest.Server, client oauth.Client, show func(ctx context.Context, address string) error) (*oauth.Account, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return beginWith(t, ctx, server, client, show)
}

func beginWith(t *testing.T, ctx context.Context, server *mcptest.Server, client oauth.Client, show func(ctx context.Context, address string) error) (*oauth.Account, error) {
	t.Helper()
	account, err := oauth.New(server.URL, oauth.Options{Client: client, Store: tokens.New(t.TempDir(), tokens.File)})
	if err != nil {
		t.Fatal(err)
	}
	return account, account.SignIn(ctx, oauth.Request{Challenge: http.Header{}, Show: show})
}

func redirect(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	back, err := url.Parse(u.Query().Get("redirect_uri"))
	if err != nil || back.Hostname() != "127.0.0.1" {
		t.Fatalf("the browser is sent back to %v, %v", back, err)
	}
	return back
}

// The listener takes the browser's answer to our own request, once; a guess gets
// nothing, and does not end the sign-in.
func TestSignIn_Callback(t *testing.T) {
	server := mcptest.Start(t)
	var back *url.URL
	account, err := begin(t, server, oauth.Client{}, func(ctx context.Context, address string) error {
		back = redirect(t, address)
		asked, _ := url.Parse(address)
		state := asked.Query().Get("state")
		for _, guess := range []string{
			back.String() + "?code=guess", back.String() + "?code=guess&state=guess",
			strings.Replace(back.String(), "/callback", "/other", 1) + "?code=guess&state=" + state,
			strings.Replace(back.String(), "127.0.0.1", "localhost", 1) + "?code=guess&state=" + state,
		} {
			if status, err := server.Browse(ctx, guess); err != nil || status != http.StatusBadRequest {
				t.Errorf("%s is answered with %d, %v", guess, status, err)
			}
		}
		if server.Counts().Exchanged != 0 {
			t.Error("a guessed code was used")
		}
		ctx = context.WithoutCancel(ctx)
		if status, err := server.Browse(ctx, address); err != nil || status != http.StatusOK {
			t.Errorf("the browser came back to %d, %v", status, err)
		}
		if status, err := server.Browse(ctx, back.String()+"?code=guess&state="+state); err == nil && status != http.StatusBadRequest {
			t.Errorf("a second answer is taken with %d", status)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if token, err := account.Token(t.Context()); err != nil || !strings.HasPrefix(token, mcptest.Canary) {
		t.Errorf("the token is %q, %v", token, err)
	}
	if c, err := net.Dial("tcp", back.Host); err == nil {
		c.Close()
		t.Error("the listener is there after the sign-in")
	}
}

// A cancel ends the sign-in, and its listener.
func TestSignIn_Cancelled(t *testing.T) {
	server := mcptest.Start(t)
	gone := errors.New("the prompt was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	var back *url.URL
	_, err := beginWith(t, ctx, server, oauth.Client{}, func(ctx context.Context, address string) error {
		back = redirect(t, address)
		cancel(gone)
		<-ctx.Done()
		return nil
	})
	if !errors.Is(err, gone) {
		t.Errorf("it ended with %v", err)
	}
	if c, err := net.Dial("tcp", back.Host); err == nil {
		c.Close()
		t.Error("the listener is there after the cancel")
	}
}

// What a server or a user refuses ends the sign-in with the reason, and gives no token.
func TestSignIn_Refused(t *testing.T) {
	declined := errors.New("the person declined")
	browse := func(s *mcptest.Server) func(context.Context, string) error {
		return func(ctx context.Context, address string) error {
			_, err := s.Browse(context.WithoutCancel(ctx), address)
			return err
		}
	}
	for _, tt := range []struct {
		name string
		turn func(*mcptest.Knobs)
		show func(*mcptest.Server) func(context.Context, string) error
		want string
	}{
		{"the person declines", nil, func(*mcptest.Server) func(context.Context, string) error {
			return func(context.Context, string) error { return declined }
		}, declined.Error()},
		{"the server denies", func(k *mcptest.Knobs) { k.Denies = true }, browse, "the sign-in was refused: access_denied"},
		{"the address is no https", func(k *mcptest.Knobs) { k.Authorize = "http://login.example/authorize" }, browse, "does not use HTTPS"},
		{"the address has a name in it", func(k *mcptest.Knobs) { k.Authorize = "https://bank.example@login.example/" }, browse, "cannot be used"},
		{"the address hides something", func(k *mcptest.Knobs) { k.Authorize = "https://login.example/\u202eauthorize" }, browse, "cannot be used"},
		{"the token is given over http", func(k *mcptest.Knobs) { k.Token = "http://login.example/token" }, browse, "does not use HTTPS"},
		{"another server of authorization is named over http", func(k *mcptest.Knobs) { k.Issuer = "http://login.example" }, browse, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := mcptest.Start(t)
			if tt.turn != nil {
				server.Change(tt.turn)
			}
			account, err := begin(t, server, oauth.Client{}, tt.show(server))
			switch {
			case tt.want == "": // its own is used
				if err != nil {
					t.Error(err)
				}
				return
			case err == nil || !strings.Contains(err.Error(), tt.want), strings.Contains(err.Error(), mcptest.Canary):
				t.Errorf("it ended with %v; want %q", err, tt.want)
			}
			if token, err := account.Token(t.Context()); token != "" || err != nil {
				t.Errorf("the token is %q, %v", token, err)
			}
		})
	}
}

// A client that was registered by hand is used as it is; its secret goes to its own
// authorization server and is not kept with the token.
func TestSignIn_Registered(t *testing.T) {
	for _, tt := range []struct {
		name, issuer string
		want         string
	}{
		{"anywhere", "", ""},
		{"with another authorization server", "https://login.example", "issuer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := mcptest.Start(t)
			client := oauth.Client{ID: "mine", Secret: mcptest.Canary, Issuer: tt.issuer, Scopes: []string{"read", "write"}}
			_, err := begin(t, server, client, func(ctx context.Context, address string) error {
				asked, _ := url.Parse(address)
				if q := asked.Query(); q.Get("client_id") != "mine" || !slices.Equal(slices.Sorted(slices.Values(strings.Fields(q.Get("scope")))), []string{"read", "write"}) {
					t.Errorf("it asks as %q for %q", q.Get("client_id"), q.Get("scope"))
				}
				_, err := server.Browse(context.WithoutCancel(ctx), address)
				return err
			})
			if (err != nil) != (tt.want != "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), mcptest.Canary)) {
				t.Fatalf("%v; want %q", err, tt.want)
			}
			if server.Counts().Registered != 0 {
				t.Error("another client was registered")
			}
		})
	}
}

// O2: an error of a sign-in is printed in a terminal: what the server says in it is one line,
// cut, and gives the terminal no orders.
func TestSignIn_WordsOfTheServer(t *testing.T) {
	server := mcptest.Start(t)
	server.Change(func(k *mcptest.Knobs) {
		k.NoRegister = strings.Repeat("\x1b]0;owned\a\nacp-agent: all is well\n", 1000)
	})
	_, err := begin(t, server, oauth.Client{}, func(context.Context, string) error { panic("asked") })
	if err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\x1b\a\n") || !strings.Contains(err.Error(), "register") {
		t.Errorf("it ended with %.300q", err)
	}
}

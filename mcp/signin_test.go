package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/testkit/mcptest"
	"acp-agent/internal/tokens"
	"acp-agent/mcp"
	"acp-agent/tools"
)

// signed is a Manager of one server that wants the user to sign in. What it logs and says is
// looked through for tokens when the test ends.
func signed(t *testing.T, dir string, server mcp.Server) *mcp.Manager {
	t.Helper()
	log := &locked{}
	m := mcp.New(mcp.Options{Tokens: tokens.New(dir, tokens.File), Logger: slog.New(slog.NewTextHandler(log, nil))})
	server.Name = "s"
	m.Set([]mcp.Server{server})
	m.Settle(limited(t), time.Time{})
	t.Cleanup(func() {
		said := fmt.Sprintf("%+v\n%s", m.Status(), log.text())
		m.Close()
		if strings.Contains(said, mcptest.Canary) {
			t.Errorf("a token is shown:\n%s", said)
		}
	})
	return m
}

// locked is a text that several goroutines write.
type locked struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *locked) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func limited(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// browsing shows an address to a user who opens it.
func browsing(s *mcptest.Server) func(context.Context, string) error {
	return func(ctx context.Context, address string) error {
		_, err := s.Browse(context.WithoutCancel(ctx), address)
		return err
	}
}

func wantState(t *testing.T, m *mcp.Manager, state mcp.State, problem string) {
	t.Helper()
	if got := m.Status()[0]; got.State != state || got.Problem != problem {
		t.Fatalf("it is %s, %q; want %s, %q", got.State, got.Problem, state, problem)
	}
}

func greet(t *testing.T, m *mcp.Manager) error {
	t.Helper()
	result, err := run(t, limited(t), m, "mcp__s__greet", &runtime{})
	if err == nil && !strings.HasPrefix(fmt.Sprint(result.Data), "hello") {
		t.Errorf("it answers %v", result.Data)
	}
	return err
}

const wantsPerson = "authentication failed: sign in with /mcp login s"

// R88, R92: a server that refuses us waits for a user; after they signed in, it is used,
// also by the next process.
func TestSignIn(t *testing.T) {
	server, dir := mcptest.Start(t), t.TempDir()
	m := signed(t, dir, mcp.Server{URL: server.URL})
	wantState(t, m, mcp.SignIn, wantsPerson)
	asked := server.Counts().Refused
	m.Set([]mcp.Server{{Name: "s", URL: server.URL}})
	m.Settle(limited(t), time.Time{})
	wantState(t, m, mcp.SignIn, wantsPerson)
	if again := server.Counts().Refused; again != asked {
		t.Errorf("it was asked %d times more", again-asked)
	}
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	wantState(t, m, mcp.Ready, "")
	if err := greet(t, m); err != nil {
		t.Fatal(err)
	}
	if err := m.SignIn(limited(t), "s", func(context.Context, string) error { panic("shown") }); err != nil {
		t.Errorf("signing in once more: %v", err)
	}
	next := signed(t, dir, mcp.Server{URL: server.URL})
	wantState(t, next, mcp.Ready, "")
	if err := greet(t, next); err != nil {
		t.Fatal(err)
	}
	if got := server.Counts(); got.Registered != 1 || got.Exchanged != 1 || got.Refreshed != 0 {
		t.Errorf("the server counts %+v", got)
	}
	if had, err := next.SignOut(limited(t), "s"); !had || err != nil {
		t.Fatalf("signed out: %v, %v", had, err)
	}
	wantState(t, next, mcp.SignIn, wantsPerson)
	if had, err := next.SignOut(limited(t), "s"); had || err != nil {
		t.Errorf("signed out again: %v, %v", had, err)
	}
}

// The older transport sends the token as well, for both of its streams, and has it renewed.
func TestSignIn_SSE(t *testing.T) {
	server, dir := mcptest.Start(t), t.TempDir()
	m := signed(t, dir, mcp.Server{URL: server.SSE, SSE: true})
	wantState(t, m, mcp.SignIn, wantsPerson)
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	wantState(t, m, mcp.Ready, "")
	server.Expire()
	if err := greet(t, m); err != nil {
		t.Fatal(err)
	}
	if got := server.Counts(); got.Refreshed != 1 || got.Called != 1 {
		t.Errorf("the server counts %+v", got)
	}
}

// Who signs in elsewhere, such as in a terminal, is signed in here from the next prompt on.
func TestSignIn_Elsewhere(t *testing.T) {
	server, dir := mcptest.Start(t), t.TempDir()
	list := []mcp.Server{{Name: "s", URL: server.URL}}
	here, there := signed(t, dir, list[0]), signed(t, dir, list[0])
	if err := there.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	wantState(t, here, mcp.SignIn, wantsPerson)
	here.Set(list)
	here.Settle(limited(t), time.Time{})
	wantState(t, here, mcp.Ready, wantsPerson)
}

// R92: a refused token is renewed once and the request sent once more; sessions that do so
// at the same time do not take each other's.
func TestSignIn_Refresh(t *testing.T) {
	server, dir := mcptest.Start(t), t.TempDir()
	m := signed(t, dir, mcp.Server{URL: server.URL})
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	other := signed(t, dir, mcp.Server{URL: server.URL})
	for round := 1; round <= 3; round++ {
		server.Expire()
		var all sync.WaitGroup
		for _, m := range []*mcp.Manager{m, other} {
			all.Go(func() {
				if err := greet(t, m); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if got := server.Counts(); got.Refreshed != round || got.Called != 2*round {
			t.Fatalf("after %d rounds the server counts %+v", round, got)
		}
	}
}

// A token that is about to end is renewed before it is sent.
func TestSignIn_Expires(t *testing.T) {
	server := mcptest.Start(t)
	server.Change(func(k *mcptest.Knobs) { k.Life = 5 })
	m := signed(t, t.TempDir(), mcp.Server{URL: server.URL})
	before := server.Counts().Refused
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	if got := server.Counts(); got.Refreshed == 0 || got.Refused != before {
		t.Errorf("the server counts %+v", got)
	}
}

// R92: where no other token is given, the model is told so, and the server waits for a
// person again.
func TestSignIn_RefreshRefused(t *testing.T) {
	server := mcptest.Start(t)
	m := signed(t, t.TempDir(), mcp.Server{URL: server.URL})
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	server.Change(func(k *mcptest.Knobs) { k.NoRefresh = true })
	server.Expire()
	for range 2 { // the second finds no one connected
		failure, ok := errors.AsType[*tools.Error](greet(t, m))
		if !ok || failure.Message != "mcp server s: authentication failed" || !strings.Contains(failure.Detail, "/mcp login s") {
			t.Fatalf("the model reads %+v", failure)
		}
		for m.Status()[0].State == mcp.Ready && t.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
	}
	wantState(t, m, mcp.SignIn, wantsPerson)
	if got := server.Counts().Refreshed; got != 1 {
		t.Errorf("a token was asked for %d times", got)
	}
	server.Change(func(k *mcptest.Knobs) { k.NoRefresh = false })
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	if err := greet(t, m); err != nil {
		t.Fatal(err)
	}
}

// A server that takes no token, whichever it is, is asked once, and not again with each
// prompt.
func TestSignIn_NoTokenWillDo(t *testing.T) {
	for name, turn := range map[string]func(*mcptest.Knobs){
		"each token is refused":   func(k *mcptest.Knobs) { k.Useless = true },
		"another scope is wanted": func(k *mcptest.Knobs) { k.Scope = true },
	} {
		t.Run(name, func(t *testing.T) {
			server, dir := mcptest.Start(t), t.TempDir()
			if err := signed(t, dir, mcp.Server{URL: server.URL}).SignIn(limited(t), "s", browsing(server)); err != nil {
				t.Fatal(err)
			}
			server.Change(turn)
			m := signed(t, dir, mcp.Server{URL: server.URL})
			wantState(t, m, mcp.SignIn, wantsPerson)
			before := server.Counts()
			for range 3 {
				m.Set([]mcp.Server{{Name: "s", URL: server.URL}})
				m.Settle(limited(t), time.Time{})
			}
			if after := server.Counts(); after != before {
				t.Errorf("the server counts %+v, and before %+v", after, before)
			}
		})
	}
}

// A refusal that is a message of the protocol as well is a refusal: the server waits for a
// person, and does not count as ready.
func TestSignIn_RefusalThatSpeaks(t *testing.T) {
	server := mcptest.Start(t)
	server.Change(func(k *mcptest.Knobs) { k.Speaks = true })
	m := signed(t, t.TempDir(), mcp.Server{URL: server.URL})
	wantState(t, m, mcp.SignIn, wantsPerson)
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	server.Change(func(k *mcptest.Knobs) { k.NoRefresh = true })
	server.Expire()
	failure, ok := errors.AsType[*tools.Error](greet(t, m))
	if !ok || failure.Message != "mcp server s: authentication failed" {
		t.Errorf("the model reads %+v", failure)
	}
	for ctx := limited(t); m.Status()[0].State == mcp.Ready && ctx.Err() == nil; {
		time.Sleep(time.Millisecond)
	}
	wantState(t, m, mcp.SignIn, wantsPerson)
}

// Whom no one can sign in to is told apart, and fails as it did.
func TestSignIn_NotThere(t *testing.T) {
	server := mcptest.Start(t)
	key := mcp.Server{URL: server.URL, Header: map[string]string{"authorization": "Bearer wrong"}}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, tt := range []struct {
		name, to string
		server   mcp.Server
		want     string
	}{
		{"a key of the configuration", "s", key, "nobody can sign in to it: its configuration has an Authorization header"},
		{"turned off", "s", mcp.Server{URL: server.URL, Anonymous: true}, "nobody can sign in to it: its configuration turns signing in off"},
		{"another name", "t", mcp.Server{URL: server.URL}, "there is no such server; there are s"},
		{"not reached", "s", mcp.Server{URL: gone.URL}, "it did not ask anybody to sign in: dial tcp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := signed(t, t.TempDir(), tt.server)
			err := m.SignIn(limited(t), tt.to, func(context.Context, string) error { panic("shown") })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("signing in: %v", err)
			}
			if refused := tt.server.Header != nil || tt.server.Anonymous; refused {
				wantState(t, m, mcp.Failed, "authentication failed")
			}
		})
	}
}

// The token goes to the server it is for, whatever that leads to.
func TestSignIn_OtherOrigin(t *testing.T) {
	server, elsewhere := mcptest.Start(t), mcptest.Start(t)
	dir := t.TempDir()
	m := signed(t, dir, mcp.Server{URL: server.URL})
	if err := m.SignIn(limited(t), "s", browsing(server)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, url string }{
		{"another server", elsewhere.URL},
		{"another path", server.URL + "/more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := signed(t, dir, mcp.Server{URL: tt.url})
			if got := other.Status()[0].State; got == mcp.Ready {
				t.Errorf("it is %s with the token of another", got)
			}
		})
	}
	if got := elsewhere.Counts(); got.Called != 0 || got.Refreshed != 0 {
		t.Errorf("the other server counts %+v", got)
	}
}

package session

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"acp-agent/kinds"
	"acp-agent/mcp"
)

// serversForms is what may follow /mcp.
const serversForms = "login NAME | logout NAME"

// command is /mcp.
func (s *servers) command(ctx context.Context, rest string) string {
	verb, name, _ := strings.Cut(rest, " ")
	name = strings.TrimSpace(name)
	switch {
	case rest == "":
		return s.text()
	case verb == "login" && name != "":
		return s.signInText(ctx, name)
	case verb == "logout" && name != "":
		return s.signOutText(ctx, name)
	}
	return "Usage: `/mcp` shows the servers; `/mcp login NAME` signs in to one, `/mcp logout NAME` signs out."
}

func (s *servers) signInText(ctx context.Context, name string) string {
	err := s.signIn(ctx, name, s.showAddress)
	switch {
	case ctx.Err() != nil:
		return "You are not signed in: it was cancelled."
	case err != nil:
		return fmt.Sprintf("You are not signed in to %s: %s.", code(name), kinds.Line(err.Error(), lineRunes))
	}
	return s.signedIn(name)
}

// signedIn describes the state of a server after the sign-in.
func (s *servers) signedIn(name string) string {
	list := s.Status()
	at := slices.IndexFunc(list, func(server mcp.Status) bool { return server.Name == name || server.ID == name })
	if at < 0 || list[at].State != mcp.Ready {
		return fmt.Sprintf("You are signed in to %s, but it is not connected yet. `/mcp` shows how it stands.", code(name))
	}
	return fmt.Sprintf("You are signed in to %s. It has %s, from the next prompt on.", code(name), kinds.Count(len(list[at].Tools), "tool"))
}

func (s *servers) signOutText(ctx context.Context, name string) string {
	had, err := s.signOut(ctx, name)
	switch {
	case err != nil:
		return fmt.Sprintf("You are not signed out of %s: %s.", code(name), kinds.Line(err.Error(), lineRunes))
	case !had:
		return fmt.Sprintf("You were not signed in to %s.", code(name))
	}
	return fmt.Sprintf("You are signed out of %s: its token is gone from here. The server was not told.", code(name))
}

// signIn lets the user sign in to an MCP server by its name, within five minutes; see Session.SignIn.
func (s *servers) signIn(ctx context.Context, name string, show func(ctx context.Context, message, address string) (done func(), err error)) error {
	s.connect()
	var mu sync.Mutex
	over := func() {}
	err := s.SignIn(ctx, name, func(ctx context.Context, address string) error {
		u, err := url.Parse(address)
		if err != nil {
			return err
		}
		message := fmt.Sprintf("To use the MCP server %s in your name, sign in at %s.", s.named(name), u.Host)
		done, err := show(ctx, message, address)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			over = done
		}
		return err
	})
	mu.Lock()
	defer mu.Unlock()
	over()
	if err == nil {
		s.conversation.notices.forget(signInKey(s.id(name)))
	}
	return err
}

// signOut forgets the user's token of an MCP server; had says whether there was one.
func (s *servers) signOut(ctx context.Context, name string) (had bool, err error) {
	s.connect()
	return s.SignOut(ctx, name)
}

// id is the id of a server, under which notices are about it.
func (s *servers) id(name string) string {
	for _, server := range s.Status() {
		if server.Name == name {
			return server.ID
		}
	}
	return name
}

// named is a server by its name and its host, because a name alone can be misleading.
func (s *servers) named(name string) string {
	text := kinds.Line(name, lineRunes)
	for _, server := range s.Status() {
		if server.Name == name || server.ID == name {
			return text + " (" + server.Place + ")"
		}
	}
	return text
}

// signInKey is the key of the notice that a server needs a sign-in.
func signInKey(id string) string { return "mcp sign-in " + id }

var errDeclined = errors.New("you declined")

// showAddress shows an address in the editor, or in the chat if the editor cannot show it.
func (s *servers) showAddress(ctx context.Context, message, address string) (done func(), err error) {
	none := func() {}
	if person := s.spec.Person; person != nil {
		if _, can := person.Can(); can {
			answer, done, err := person.Visit(ctx, mcp.Visit{Message: message, Address: address})
			switch {
			case ctx.Err() != nil:
				return done, nil // the browser was faster than the editor's answer
			case err == nil && answer.Action == mcp.Accept:
				return done, nil
			case err == nil:
				return none, errDeclined
			}
		}
	}
	s.conversation.say(fmt.Sprintf("%s Open this address in a browser of this machine:\n\n<%s>\n\nThe agent waits for it, at most five minutes. Cancel ends that.", message, address))
	return none, nil
}

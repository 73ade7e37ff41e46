package session

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"acp-agent/kinds"
	"acp-agent/mcp"
)

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

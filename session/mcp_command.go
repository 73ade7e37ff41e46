package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

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

// text is /mcp.
func (s *servers) text() string {
	list := s.Status()
	var b strings.Builder
	for _, server := range list {
		fmt.Fprintf(&b, "- %s: %s, %s, %s (%s, from %s)\n", code(server.Name), server.State,
			counts(server), code(server.Place), server.Transport, server.Origin+outside(server))
		if server.Problem != "" {
			fmt.Fprintf(&b, "  - last error: %s\n", code(server.Problem))
		}
		for _, note := range server.Notes {
			fmt.Fprintf(&b, "  - %s\n", note)
		}
		if server.Ignored > 0 {
			fmt.Fprintf(&b, "  - ignored on its output: %s\n", kinds.Count(server.Ignored, "line"))
		}
		for _, dropped := range server.Dropped {
			fmt.Fprintf(&b, "  - %s %s left out: %s\n", dropped.Kind, code(dropped.Name), code(dropped.Reason))
		}
		for _, names := range [][]string{toolNames(server.Tools), promptNames(server.Prompts), resourceNames(slices.Concat(server.Resources, server.Templates))} {
			if len(names) > 0 {
				fmt.Fprintf(&b, "  - %s\n", someOf(names))
			}
		}
	}
	if waiting := s.project.offeredServers(); len(waiting) > 0 && len(s.project.trustedServers()) == 0 {
		fmt.Fprintf(&b, "- The project names %s, and nothing of it starts before you trust it: `/trust` shows what, and asks.\n", kinds.Count(len(waiting), "more server"))
	}
	if b.Len() == 0 {
		return "There are no MCP servers in this session. The editor names them, or `mcp.servers` of your configuration does."
	}
	return "**MCP servers**\n\n" + b.String()
}

// outside says of a server that nothing confines it.
func outside(server mcp.Status) string {
	if server.Unconfined && server.Transport == "stdio" {
		return ", outside of the sandbox"
	}
	return ""
}

// counts says how many tools a server has, and how many prompts, resources and templates if any.
func counts(server mcp.Status) string {
	list := []string{kinds.Count(len(server.Tools), "tool")}
	for _, other := range []struct {
		n    int
		what string
	}{{len(server.Prompts), "prompt"}, {len(server.Resources), "resource"}, {len(server.Templates), "template"}} {
		if other.n > 0 {
			list = append(list, kinds.Count(other.n, other.what))
		}
	}
	return strings.Join(list, ", ")
}

func toolNames(tools []mcp.Name) (names []string) {
	for _, tool := range tools {
		names = append(names, tool.ID)
	}
	return names
}

func promptNames(prompts []mcp.Prompt) (names []string) {
	for _, prompt := range prompts {
		names = append(names, "/"+prompt.Command)
	}
	return names
}

func resourceNames(resources []mcp.Resource) (names []string) {
	for _, resource := range resources {
		names = append(names, kinds.Line(resource.URI, lineRunes))
	}
	return names
}

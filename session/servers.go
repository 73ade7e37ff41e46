package session

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// firstWait is how long a prompt waits for servers that were never reached: those that are
// quick are there at the first request, and a dead one costs no more. onlyWait is the same
// where the first prompt is the only one.
const (
	firstWait = time.Second
	onlyWait  = 10 * time.Second
)

// newServers returns the servers of a session; none is started.
func (s *Session) newServers() *mcp.Manager {
	return mcp.New(mcp.Options{
		Logger: s.host.Logger, Version: s.host.Version, Start: startServer(s.work),
		Tokens: s.host.Tokens, Keep: s.host.Keep, Person: s.spec.Person,
	})
}

// startServer starts the program of a server like the agent's other programs, but with the
// network: most are there to reach something.
func startServer(work *workspace.Workspace) func(context.Context, mcp.Server, io.Writer) (io.ReadWriteCloser, error) {
	return func(ctx context.Context, server mcp.Server, stderr io.Writer) (io.ReadWriteCloser, error) {
		argv := append([]string{server.Command}, server.Args...)
		program, err := work.StartProgram(ctx, tools.Program{Args: argv, Dir: work.Session().Cwd, Env: server.Env}, true, stderr)
		if err != nil {
			return nil, err // not a nil *Program in an interface
		}
		return program, nil
	}
}

// connectServers has those servers connected that may be: the editor's, the person's, and
// once they trust the project, the project's, which take no name of the others (M1). It
// does not wait.
func (s *Session) connectServers() {
	s.servers.Set(slices.Concat(s.spec.Servers, s.settings.Servers, s.projectServers()))
}

// AwaitServers connects to the servers and waits until each has been reached or has
// failed, or ctx ends; then their tools are there. It is not for use during a turn, within
// which the tools do not change (R91).
func (s *Session) AwaitServers(ctx context.Context) {
	s.connectServers()
	s.servers.Settle(ctx)
	s.adoptTools()
}

// forgetAnswers takes back every "always" that was given to these tools, in this session
// and for the project (M4).
func (s *Session) forgetAnswers(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, l := range s.Rules() {
		if l.Rule.Source != permissions.SourceAlways || l.Rule.Action != capability.Allow || !slices.Contains(ids, l.Rule.Permission) {
			continue
		}
		if err := s.Revoke(l); err != nil {
			s.host.Logger.Warn("tool has changed", "session", s.ID, "tool", l.Rule.Permission, "problem", err.Error())
		}
	}
}

// refreshServers brings the tools of servers up to date before a turn, and says of each
// server that cannot be used why.
func (s *Session) refreshServers(ctx context.Context) {
	limit := firstWait
	if s.spec.Waits {
		limit = onlyWait
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.AwaitServers(ctx)
	for _, server := range s.servers.Status() {
		switch server.State {
		case mcp.SignIn:
			s.sayOnce(signInKey(server.ID), transcript.Notice{
				Severity: transcript.Warning, Title: "MCP server wants you to sign in",
				Text: fmt.Sprintf("The MCP server %s is not used before you sign in to it: run /mcp login %s.", server.Name, server.Name),
			})
		case mcp.Failed:
			s.sayOnce("mcp "+server.ID, transcript.Notice{
				Severity: transcript.Warning, Title: "MCP server not connected",
				Text: fmt.Sprintf("The MCP server %s is not connected: %s. /mcp shows how the servers stand.", server.Name, strings.TrimSuffix(server.Problem, ".")),
			})
		}
	}
}

// Servers says how the MCP servers stand.
func (s *Session) Servers() []mcp.Status { return s.servers.Status() }

// hasServers reports whether there is anything for /mcp to say.
func (s *Session) hasServers() bool {
	return len(s.spec.Servers)+len(s.settings.Servers)+len(s.offeredServers()) > 0
}

// serversText is /mcp.
func (s *Session) serversText() string {
	list := s.servers.Status()
	var b strings.Builder
	for _, server := range list {
		fmt.Fprintf(&b, "- %s: %s, %s, %s (%s, from %s)\n", code(server.Name), server.State,
			kinds.Count(len(server.Tools), "tool"), code(server.Place), server.Transport, server.Origin)
		if server.Problem != "" {
			fmt.Fprintf(&b, "  - last error: %s\n", code(server.Problem))
		}
		if server.Ignored > 0 {
			fmt.Fprintf(&b, "  - ignored on its output: %s\n", kinds.Count(server.Ignored, "line"))
		}
		for _, dropped := range server.Dropped {
			fmt.Fprintf(&b, "  - tool %s left out: %s\n", code(dropped.Tool), code(dropped.Reason))
		}
		if len(server.Tools) > 0 {
			fmt.Fprintf(&b, "  - %s\n", toolNames(server.Tools))
		}
	}
	if waiting := s.offeredServers(); len(waiting) > 0 && len(s.projectServers()) == 0 {
		fmt.Fprintf(&b, "- The project names %s, which start once you trust it: `/trust` shows them and asks.\n", kinds.Count(len(waiting), "more server"))
	}
	if b.Len() == 0 {
		return "There are no MCP servers in this session. The editor names them, or `mcp.servers` of your configuration does."
	}
	return "**MCP servers**\n\n" + b.String()
}

// toolNames lists ids, some of them.
func toolNames(names []mcp.Name) string {
	const most = 30
	var list []string
	for i, name := range names {
		if i == most {
			list = append(list, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		list = append(list, code(name.ID))
	}
	return strings.Join(list, ", ")
}

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"acp-agent/audit"
	"acp-agent/internal/record"
	"acp-agent/mcp"
	"acp-agent/tools"
	"acp-agent/tools/builtin"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// servers are the MCP servers of a session: the editor's, the user's, and those of a project that the
// user trusts. signin.go has the sign-in. They are safe for concurrent use.
type servers struct {
	opened
	*mcp.Manager
	hosts        serverHosts
	policy       *pipeline.Policy // of the main agent
	project      *project
	conversation *conversation
	// audit has what was decided about hosts; nil when none is kept.
	audit *audit.Log

	// mu is held from the check of trust to its effect on the servers, so that of two changes the
	// later counts. The project's mu is taken within. It guards serving.
	mu      sync.Mutex
	serving bool // connect was called

	played atomic.Pointer[[]Command] // their prompts in a replay
}

// newServers returns the servers of a session; none is started.
func newServers(o opened, p *project, c *conversation, policy *pipeline.Policy, log *audit.Log) *servers {
	s := &servers{opened: o, project: p, conversation: c, policy: policy, audit: log}
	s.hosts.questions = newHostQuestions(o, c, s.keepHost)
	s.Manager = mcp.New(mcp.Options{
		Reserved: builtin.Known,
		Logger:   o.host.Logger, Version: o.host.Version, Start: s.startProgram, Roots: o.work.Session().Roots,
		Tokens: o.host.Tokens, Redact: o.host.AddSecrets, Person: o.spec.Person,
		Changed: s.promptsChanged,
	})
	return s
}

// errChanged is why the program of a project's server does not start, or not again after it has ended.
var errChanged = errors.New("the project is not what you trusted any more: /trust shows the difference")

// startProgram starts the program of a server like the agent's other programs, but with as much of the
// network as its entry says. Trust in a project's server is checked right before, because a server is
// restarted long after it was set.
func (s *servers) startProgram(ctx context.Context, server mcp.Server, stderr io.Writer) (io.ReadWriteCloser, error) {
	if server.Project {
		// Not confirmTrust: it would end the servers, and wait for this start.
		if trusted, _ := s.project.readTrusted(); !trusted {
			return nil, errChanged
		}
	}
	grant, err := s.networkOf(ctx, server)
	if err != nil {
		return nil, err
	}
	argv := append([]string{server.Command}, server.Args...)
	program, err := s.work.Runner().StartProgram(ctx, tools.Program{
		Args: argv, Dir: programDir(s.opened, s.project, server.Command, server.Args), Env: server.Env,
		Caches: "mcp " + server.Origin + " " + server.Name,
	}, grant, stderr)
	if err != nil {
		return nil, err // not a nil *Program in an interface
	}
	return program, nil
}

// connect starts to connect to the allowed servers. It does not block.
func (s *servers) connect() { s.update(true) }

// applyTrust ends the project's servers when it is no longer trusted, and starts them when it becomes
// trusted, but only after connect.
func (s *servers) applyTrust() { s.update(false) }

func (s *servers) update(start bool) {
	if s.host.Tape.Plays() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.serving = s.serving || start; s.serving {
		list := s.allowed()
		s.Set(list)
		s.hosts.keep(list)
	}
}

// unseen stands in for a tool of a server that has not listed its tools yet.
func (s *servers) unseen(tool string) (standIn tools.Tool, ok bool) {
	for _, server := range s.allowed() {
		if server.Has(tool) {
			return tools.Tool{Spec: tools.Spec{
				ID: tool, Source: tools.Source{Kind: tools.MCP, Server: mcp.ID(server.Name)}, Origin: server.Provenance,
			}}, true
		}
	}
	return standIn, false
}

// allowed are the servers that may be connected: the editor's, the user's, and the project's while it
// is trusted. Rules of the user name a server of the user's own: they do not hold for the editor's
// server of the same name, nor for any server of the project, which may take any name.
func (s *servers) allowed() []mcp.Server {
	own := map[string]bool{}
	for _, server := range s.settings.Servers {
		own[mcp.ID(server.Name)] = true
	}
	list := slices.Concat(s.spec.Servers, s.settings.Servers, s.project.trustedServers())
	for i := range list {
		list[i].Apart = startsOutside(s.project, &list[i])
		switch at := i - len(s.spec.Servers); {
		case at < 0:
			list[i].UntrustedName, list[i].Unconfined = own[mcp.ID(list[i].Name)], s.settings.EditorUnconfined
			list[i].AsksHosts = s.settings.EditorAsksHosts
		case at >= len(s.settings.Servers):
			list[i].UntrustedName, list[i].Project = true, true
		}
	}
	return list
}

// filesOf are the files of a project that its servers run or use: every word of their arguments and
// variables that could be the name of one, relative to the top of the project.
func filesOf(dir string, servers []mcp.Server) []string {
	var names []string
	add := func(word string) {
		if filepath.IsAbs(word) {
			rel, err := filepath.Rel(dir, word)
			if err != nil {
				return
			}
			word = rel
		}
		if word = filepath.Clean(word); filepath.IsLocal(word) && word != "." && !slices.Contains(names, word) {
			names = append(names, word)
		}
	}
	for _, server := range servers {
		for _, arg := range slices.Concat([]string{server.Command}, server.Args, server.Env) {
			add(arg)
			for _, word := range strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`;&|=<>(){},", r) }) {
				add(word)
			}
		}
	}
	return names
}

// problems say which servers cannot be used, and why.
func (s *servers) problems() (list []problem) {
	for _, server := range s.Status() {
		switch {
		case server.State == mcp.SignIn:
			list = append(list, problem{signInKey(server.ID), transcript.Notice{
				Severity: transcript.Warning, Title: "MCP server needs you to sign in",
				Text: fmt.Sprintf("The MCP server %s needs you to sign in: run /mcp login %s.", server.Name, server.Name),
			}})
		case server.State == mcp.Failed:
			list = append(list, problem{"mcp " + server.ID, transcript.Notice{
				Severity: transcript.Warning, Title: "MCP server not connected",
				Text: fmt.Sprintf("The MCP server %s is not connected: %s. /mcp shows the state of all servers.", server.Name, strings.TrimSuffix(server.Problem, ".")),
			}})
		case server.State == mcp.Connecting && server.Problem == "":
			list = append(list, problem{"slow mcp " + server.ID, transcript.Notice{
				Severity: transcript.Warning, Title: "MCP server not connected yet",
				Text: fmt.Sprintf("The MCP server %s has not answered yet. Once it has, its tools can be used from the next prompt on.", server.Name),
			}})
		}
	}
	return list
}

// away are the ids of the servers that cannot be reached now although their tools are listed.
func (s *servers) away() []string {
	return record.Value(s.host.Tape, "away", s.ID, s.awayNow)
}

func (s *servers) awayNow() (away []string) {
	for _, server := range s.Status() {
		lost := server.State == mcp.Failed || server.State == mcp.SignIn || server.State == mcp.Connecting && server.Problem != ""
		if lost && len(server.Tools) > 0 {
			away = append(away, server.ID)
		}
	}
	return away
}

// configured reports whether /mcp has anything to list.
func (s *servers) configured() bool {
	return len(s.spec.Servers)+len(s.settings.Servers)+len(s.project.offeredServers()) > 0
}

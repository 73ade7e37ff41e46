package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"acp-agent/audit"
	"acp-agent/internal/egress"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/workspace/run"
)

// errOpenNetwork is why a program whose entry lists hosts does not start.
var errOpenNetwork = errors.New("its entry lists the hosts of its network, and no sandbox is here that could close the rest; " +
	"`acp-agent doctor` says why")

// networkOf is what of the network the program of a server starts with. Where hosts cannot be told
// apart, one with a list has none, as commands, and one whose hosts would be asked about has all of it.
func (s *servers) networkOf(ctx context.Context, server mcp.Server) (run.Grant, error) {
	grant := run.Grant{Unconfined: server.Unconfined, Named: !server.Project}
	runner := s.work.Runner()
	switch {
	case server.Hosts != nil:
		if err := s.checkHosts(ctx, server); err != nil {
			return grant, err
		}
	case !server.AsksHosts || server.Unconfined:
		grant.Network = true
		return grant, nil
	case !runner.CanUseProxy(ctx):
		report, _, err := runner.Sandbox(ctx)
		if err != nil {
			return grant, err
		}
		s.noteHost(server, "it has the whole network, for "+heldBy(report)+" cannot tell hosts apart here")
		grant.Network = true
		return grant, nil
	}
	s.hosts.started(&server)
	grant.Listed, grant.Connect = true, s.connectTo(server)
	return grant, nil
}

// checkHosts returns an error where nothing could keep a server to the hosts that its entry lists: it
// never gets more. Where the network can be closed, but not host by host, it has none.
func (s *servers) checkHosts(ctx context.Context, server mcp.Server) error {
	note, err := checkHostList(ctx, s.work.Runner(), server.Hosts)
	if errors.Is(err, errOpenNetwork) {
		err = fmt.Errorf("%w. Without \"network\" in the entry it has the whole network", err)
	}
	if note != "" {
		s.noteHost(server, note)
	}
	return err
}

// checkHostList returns an error where nothing could keep a program to a list of hosts. note says that none of them is open.
func checkHostList(ctx context.Context, runner *run.Runner, hosts []string) (note string, err error) {
	report, _, err := runner.Sandbox(ctx)
	if err == nil && (report.Refused == "" && (!report.Confines() || !report.Network)) {
		err = errOpenNetwork
	}
	if err == nil && len(hosts) > 0 && !runner.CanUseProxy(ctx) {
		note = "it has no network: " + heldBy(report) + " cannot tell hosts apart here, so its list opens none"
	}
	return note, err
}

// heldBy names a sandbox.
func heldBy(r sandbox.Report) string { return "the sandbox (" + string(r.Kind) + ")" }

// connectTo judges what a server reaches for. What its list lacks is asked about if its entry says
// so, and closed otherwise.
func (s *servers) connectTo(server mcp.Server) run.Connect {
	program := pipeline.Program{For: hostIdentity(&server), Hosts: server.Hosts}
	record := recordHosts(s.opened, s.audit, tools.MCP, server.Name)
	return func(ctx context.Context, to egress.Destination) error {
		by, unlisted, err := program.MayConnect(s.policy.Rules(), to)
		decision := pipeline.HostDecision{Err: err, By: by}
		if unlisted != nil && server.AsksHosts {
			decision = s.askHost(ctx, server, unlisted, to)
		}
		record(to, decision)
		refusal, refused := errors.AsType[*egress.Refusal](decision.Err)
		if !refused {
			return decision.Err
		}
		text := fmt.Sprintf("the network was closed to it for %s: %s", code(to.Pair()), refusal.Reason)
		switch {
		case unlisted == nil:
		case s.isOwn(&server):
			text += fmt.Sprintf("; to open it, add %s to %s of its entry", code(fmt.Sprintf("%q", unlisted.Host)), code("network"))
		case s.hosts.questions == nil:
			text += fmt.Sprintf("; to open it, allow it for the project in an editor, which asks you, or set %s to %s", code("mcp.network"), code(`"open"`))
		}
		if unlisted != nil && server.AsksHosts && decision.Scope != "" {
			text += "; " + code("/permissions") + " takes that back"
		}
		s.noteHost(server, text)
		return decision.Err
	}
}

// askHost returns what the user says of a host, which is asked once however many connections there
// are. The question outlives a connection whose program does not wait for it: the
// answer counts for the next one.
func (s *servers) askHost(ctx context.Context, server mcp.Server, unlisted *pipeline.Unlisted, to egress.Destination) pipeline.HostDecision {
	if s.hosts.questions == nil {
		return pipeline.HostDecision{Err: &egress.Refusal{Reason: "no user is here who could allow it"}, By: pipeline.ByNoOne}
	}
	about := hostOfServer{hostIdentity(&server), unlisted.Host}
	answer, asking := s.hosts.answer(s.life.ctx, about)
	if answer == nil {
		return pipeline.HostDecision{Err: &egress.Refusal{Reason: "this server reaches for too many hosts to ask about each"}, By: "policy"}
	}
	if asking != nil {
		s.life.start(func() {
			asked, err := s.hosts.questions.ask(asking, hostQuestionOf(server, unlisted, to))
			s.hosts.answered(asking, about, asked, err)
		})
	}
	if !answer.isKnown() {
		// For each connection: the program that waits may be another than the one that was asked about.
		defer s.Pause(ctx, mcp.ID(server.Name))()
	}
	select {
	case <-answer.done:
		return answer.HostDecision
	case <-ctx.Done():
		return pipeline.HostDecision{Err: context.Cause(ctx), By: pipeline.ByWithdrawn}
	case <-s.life.ctx.Done():
		return pipeline.HostDecision{Err: context.Cause(s.life.ctx), By: pipeline.ByWithdrawn}
	}
}

// recordHosts returns what records the decisions about the hosts of one run of a source's program, each decision about
// a host once (R129).
func recordHosts(o opened, log *audit.Log, source, name string) func(egress.Destination, pipeline.HostDecision) {
	if log == nil {
		return func(egress.Destination, pipeline.HostDecision) {}
	}
	var mu sync.Mutex
	recorded := map[string]bool{}
	return func(to egress.Destination, d pipeline.HostDecision) {
		key := fmt.Sprint(to.Pair(), " ", d.By, " ", d.Err != nil)
		mu.Lock()
		defer mu.Unlock()
		if recorded[key] || len(recorded) >= maxHostRecords {
			return
		}
		recorded[key] = true
		record := d.Record(to)
		record.Source, record.Server, record.Workspace = source, name, o.work.Session().Cwd
		log.Append(record)
	}
}

// decisionOf is the decision that an answer, or the lack of one, means. A refusal holds for the session, unless the
// user dismissed the question or did not come to see it: then the next turn asks again.
func decisionOf(answer tools.Answer, err error) pipeline.HostDecision {
	scope := "session"
	if answer == tools.Cancelled {
		scope = ""
	}
	switch {
	case errors.Is(err, errNoHostAnswer):
		return pipeline.HostDecision{Err: &egress.Refusal{Reason: err.Error()}, By: pipeline.ByTimeout, Scope: scope}
	case err != nil:
		return pipeline.HostDecision{Err: &egress.Refusal{Reason: "the user could not be asked"}, By: pipeline.ByWithdrawn}
	case allows(answer):
		return pipeline.Answered(answer, nil)
	}
	d := pipeline.Answered(answer, &egress.Refusal{Reason: "the user does not allow it"})
	d.Scope = scope
	return d
}

// hostQuestionOf is the question about a host that a server reaches for. The host stands first and is
// whole: the name of a server can be anything, and the end of a host says whose it is.
func hostQuestionOf(server mcp.Server, unlisted *pipeline.Unlisted, to egress.Destination) hostQuestion {
	text := fmt.Sprintf("The MCP server %s (%s, from %s) reaches for %s", code(server.Name), code(server.Place()), server.Origin, code(to.Pair()))
	if unlisted.Private != "" {
		text += fmt.Sprintf(", which is not on the public web (%s)", unlisted.Private)
	}
	by := "the MCP server " + kinds.Line(server.Name, maxServerName)
	return hostQuestion{
		Title:    "Connect to " + unlisted.Host + " for " + by,
		Reason:   to.Pair() + " is reached for by " + by,
		Remember: "connections to " + unlisted.Host + " by " + by,
		Text:     text + ".", Rules: unlisted.Always,
	}
}

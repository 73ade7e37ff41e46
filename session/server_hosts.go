package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"acp-agent/internal/egress"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
	"acp-agent/workspace/run"
)

// A server may reach for any number of hosts.
const (
	maxHostNotes  = 8  // about the network of one server
	maxHostsOpen  = 4  // questions about hosts of one server at a time
	maxHostsShut  = 32 // hosts of one server that the user was asked about and has not allowed
	maxServerName = 60 // runes of the name of a server in a question
)

// serverHosts has what is known of the hosts that the programs of servers reach for. It is safe for
// concurrent use.
type serverHosts struct {
	questions *hostQuestions // nil where no user can be asked

	mu    sync.Mutex
	notes map[string][]string // by the ids of the servers, as people read them
	asked map[hostOfServer]*hostAnswer
}

// hostOfServer is a host as rules name it, for one server as it is: the server that takes its name, or
// that it becomes, has none of its answers.
type hostOfServer struct{ server, name string }

// hostIdentity is what an answer about a host is bound to: the name of the server, and what it is.
func hostIdentity(server *mcp.Server) permissions.Identity {
	return permissions.Identity{
		Origin:     tools.DigestOf(server.Name, server.Provenance().Digest),
		OriginName: "the MCP server " + kinds.Line(server.Name, lineRunes),
	}
}

// hostAnswer is what the user said of a host. What is allowed once holds until the program ends; for longer
// it is a rule. What is refused holds for the session, for a program can end whenever it wants to be asked
// about again. What was not answered holds until the next turn.
type hostAnswer struct {
	withdraw context.CancelFunc // of the question
	done     chan struct{}      // closed when the others are set
	err      error              // a *egress.Refusal, unless the host is allowed
	// unanswered says that the question was dismissed, or did not come to be shown.
	unanswered bool
}

// note reports whether a text is new.
func (h *serverHosts) note(id, text string) (added bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.notes[id]) >= maxHostNotes || slices.Contains(h.notes[id], text) {
		return false
	}
	if h.notes == nil {
		h.notes = map[string][]string{}
	}
	h.notes[id] = append(h.notes[id], text)
	return true
}

func (h *serverHosts) notesOf(id string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.notes[id])
}

// answer returns the answer about a host; nil where the user is asked too much by this server. asking is
// nil unless the caller has to ask, and calls answered; it ends with the session, or when the server goes.
func (h *serverHosts) answer(session context.Context, about hostOfServer) (answer *hostAnswer, asking context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if answer, known := h.asked[about]; known {
		return answer, nil
	}
	shut, open := 0, 0
	for other, answer := range h.asked {
		switch {
		case other.server != about.server:
		case !answer.isKnown():
			open++
		case answer.err != nil:
			shut++
		}
	}
	if shut+open >= maxHostsShut || open >= maxHostsOpen {
		return nil, nil
	}
	if h.asked == nil {
		h.asked = map[hostOfServer]*hostAnswer{}
	}
	answer = &hostAnswer{done: make(chan struct{})}
	asking, answer.withdraw = context.WithCancel(session)
	h.asked[about] = answer
	return answer, asking
}

// answered sets an answer. Where the question was withdrawn it counts only for the connections that wait now, and
// likewise where the user allowed the host for longer: then there is a rule, which can be revoked.
func (h *serverHosts) answered(asking context.Context, about hostOfServer, asked tools.Answer, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	answer := h.asked[about]
	answer.err, answer.unanswered = refusalOf(asked, err), asked == tools.Cancelled
	if asking.Err() != nil || answer.err == nil && asked != tools.AllowOnce {
		delete(h.asked, about)
	}
	answer.withdraw()
	close(answer.done)
}

// started forgets what the user allowed to the last run of a server's program.
func (h *serverHosts) started(server *mcp.Server) {
	h.forget(func(about hostOfServer, answer *hostAnswer) bool {
		return answer.err == nil && about.server == hostIdentity(server).Origin
	})
}

// turnStarted forgets what was not answered in the last turn.
func (h *serverHosts) turnStarted() {
	h.forget(func(_ hostOfServer, answer *hostAnswer) bool { return answer.unanswered })
}

// forget lets the hosts be asked about again whose answers are known and past.
func (h *serverHosts) forget(past func(hostOfServer, *hostAnswer) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for about, answer := range h.asked {
		if answer.isKnown() && past(about, answer) {
			delete(h.asked, about)
		}
	}
}

// keep withdraws the questions of servers that are not there any more.
func (h *serverHosts) keep(list []mcp.Server) {
	there := map[string]bool{}
	for i := range list {
		there[hostIdentity(&list[i]).Origin] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for about, answer := range h.asked {
		if !there[about.server] {
			answer.withdraw()
		}
	}
}

func (a *hostAnswer) isKnown() bool {
	select {
	case <-a.done:
		return true
	default: // the user is asked
		return false
	}
}

// Status are the servers, with how the network stands for them.
func (s *servers) Status() []mcp.Status {
	list := s.Manager.Status()
	for i := range list {
		list[i].Notes = s.hosts.notesOf(list[i].ID)
	}
	return list
}

// errOpenNetwork is why a server whose entry lists hosts does not start.
var errOpenNetwork = errors.New("its entry lists the hosts of its network, and no sandbox is here that could close the rest; " +
	"`acp-agent doctor` says why. Without \"network\" in the entry it has the whole network")

// networkOf is what of the network the program of a server starts with. Where hosts cannot be told
// apart, one with a list has none, as commands, and one whose hosts would be asked about has all of it.
func (s *servers) networkOf(ctx context.Context, server mcp.Server) (run.Grant, error) {
	grant := run.Grant{Unconfined: server.Unconfined, Named: !server.Project}
	runner := s.work.Runner()
	switch {
	case server.Hosts != nil:
		if err := s.mayHold(ctx, server); err != nil {
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

// mayHold reports an error where nothing could keep a server to the hosts that its entry lists: it
// never gets more. Where the network can be closed, but not host by host, it has none.
func (s *servers) mayHold(ctx context.Context, server mcp.Server) error {
	runner := s.work.Runner()
	report, _, err := runner.Sandbox(ctx)
	if err == nil && (report.Refused == "" && (!report.Confines() || !report.Network)) {
		err = errOpenNetwork
	}
	if err == nil && len(server.Hosts) > 0 && !runner.CanUseProxy(ctx) {
		s.noteHost(server, "it has no network: "+heldBy(report)+" cannot tell hosts apart here, so its list opens none")
	}
	return err
}

// heldBy names a sandbox.
func heldBy(r sandbox.Report) string { return "the sandbox (" + string(r.Kind) + ")" }

// connectTo judges what a server reaches for. What its list lacks is asked about if its entry says
// so, and closed otherwise.
func (s *servers) connectTo(server mcp.Server) run.Connect {
	program := pipeline.Program{For: hostIdentity(&server), Hosts: server.Hosts}
	return func(ctx context.Context, to egress.Destination) error {
		unlisted, err := program.MayConnect(s.policy.Rules(), to)
		if unlisted != nil && server.AsksHosts {
			err = s.askHost(ctx, server, unlisted, to)
		}
		refusal, refused := errors.AsType[*egress.Refusal](err)
		if !refused {
			return err
		}
		text := fmt.Sprintf("the network was closed to it for %s: %s", code(to.Pair()), refusal.Reason)
		switch {
		case unlisted == nil:
		case s.isOwn(&server):
			text += fmt.Sprintf("; to open it, add %s to %s of its entry", code(fmt.Sprintf("%q", unlisted.Host)), code("network"))
		case s.hosts.questions == nil:
			text += fmt.Sprintf("; to open it, allow it for the project in an editor, which asks you, or set %s to %s", code("mcp.network"), code(`"open"`))
		}
		s.noteHost(server, text)
		return err
	}
}

// askHost returns what the user says of a host, which is asked once however many connections there
// are. The question outlives a connection whose program does not wait for it: the
// answer counts for the next one.
func (s *servers) askHost(ctx context.Context, server mcp.Server, unlisted *pipeline.Unlisted, to egress.Destination) error {
	if s.hosts.questions == nil {
		return &egress.Refusal{Reason: "no user is here who could allow it"}
	}
	about := hostOfServer{hostIdentity(&server).Origin, unlisted.Host}
	answer, asking := s.hosts.answer(s.life.ctx, about)
	if answer == nil {
		return &egress.Refusal{Reason: "this server reaches for too many hosts to ask about each"}
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
		return answer.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.life.ctx.Done():
		return context.Cause(s.life.ctx)
	}
}

// refusalOf is the refusal that an answer, or the lack of one, means; nil for a host that is allowed.
func refusalOf(answer tools.Answer, err error) error {
	switch {
	case errors.Is(err, errNoHostAnswer):
		return &egress.Refusal{Reason: err.Error()}
	case err != nil:
		return &egress.Refusal{Reason: "the user could not be asked"}
	case !allows(answer):
		return &egress.Refusal{Reason: "the user does not allow it"}
	}
	return nil
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

// keepHost puts the rules of an answer in force.
func (s *servers) keepHost(answer tools.Answer, rules []permissions.Rule) {
	switch answer {
	case tools.AllowProject:
		rules = slices.Clone(rules)
		for i := range rules {
			rules[i].AddedAt = time.Now().UTC().Truncate(time.Second)
		}
		if err := s.project.storeRules(rules); err != nil {
			s.conversation.pass(transcript.Notice{
				Severity: transcript.Warning, Title: "Not kept for the project",
				Text: "This rule could not be kept for the project and holds for this session only: " + err.Error(),
			})
			s.policy.Remember(rules...)
		}
	case tools.AllowAlways:
		s.policy.Remember(rules...)
	}
}

// isOwn reports a server of the user's own configuration.
func (s *servers) isOwn(server *mcp.Server) bool {
	return slices.ContainsFunc(s.settings.Servers, func(own mcp.Server) bool {
		return own.Origin == server.Origin && own.Name == server.Name
	})
}

// letAsk lets servers ask about hosts, as in a turn.
func (s *servers) letAsk(ctx context.Context) *askingTurn {
	s.hosts.turnStarted()
	return s.hosts.questions.turnStarted(ctx)
}

// noteHost keeps a note for /mcp, and logs it when it is new.
func (s *servers) noteHost(server mcp.Server, text string) {
	id := mcp.ID(server.Name)
	if s.hosts.note(id, text) {
		s.host.Logger.Warn("mcp server", "server", id, "network", kinds.Line(text, lineRunes))
	}
}

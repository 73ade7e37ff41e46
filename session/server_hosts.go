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
	maxHostNotes = 8  // about the network of one server
	maxHostsOpen = 4  // questions about hosts of one server at a time
	maxHostsRun  = 32 // and in one run of its program
)

// serverHosts has what is known of the hosts that the programs of servers reach for. It is safe for
// concurrent use.
type serverHosts struct {
	questions *hostQuestions // nil where no user can be asked

	mu    sync.Mutex
	notes map[string][]string // by the ids of the servers, as people read them
	asked map[hostOfServer]*hostAnswer
}

// hostOfServer is a host as rules name it, for one server.
type hostOfServer struct{ id, name string }

// hostAnswer is what the user said of a host.
type hostAnswer struct {
	done chan struct{} // closed when the others are set
	err  error         // a *egress.Refusal, unless the host is allowed
	// once says that it holds until the program ends; others hold for the session.
	once bool
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

// answer returns the answer about a host; nil where the user is asked too much by this server. first says
// that the caller has to find it.
func (h *serverHosts) answer(about hostOfServer) (answer *hostAnswer, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if answer, known := h.asked[about]; known {
		return answer, false
	}
	all, open := 0, 0
	for other, answer := range h.asked {
		if other.id != about.id {
			continue
		}
		if all++; !answer.isKnown() {
			open++
		}
	}
	if all >= maxHostsRun || open >= maxHostsOpen {
		return nil, false
	}
	if h.asked == nil {
		h.asked = map[hostOfServer]*hostAnswer{}
	}
	answer = &hostAnswer{done: make(chan struct{})}
	h.asked[about] = answer
	return answer, true
}

// forget lets a host be asked about again.
func (h *serverHosts) forget(about hostOfServer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.asked, about)
}

// started forgets what was answered for the last run of a server's program.
func (h *serverHosts) started(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for about, answer := range h.asked {
		if about.id == id && answer.isKnown() && answer.once {
			delete(h.asked, about)
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
	case !runner.ConnectsListed(ctx):
		report, _, err := runner.Sandbox(ctx)
		if err != nil {
			return grant, err
		}
		s.noteHost(server, "it has the whole network, for "+heldBy(report)+" cannot tell hosts apart here")
		grant.Network = true
		return grant, nil
	}
	s.hosts.started(mcp.ID(server.Name))
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
	if err == nil && len(server.Hosts) > 0 && !runner.ConnectsListed(ctx) {
		s.noteHost(server, "it has no network: "+heldBy(report)+" cannot tell hosts apart here, so its list opens none")
	}
	return err
}

// heldBy names a sandbox.
func heldBy(r sandbox.Report) string { return "the sandbox (" + string(r.Kind) + ")" }

// connectTo judges what a server reaches for. What its list lacks is asked about if its entry says
// so, and closed otherwise.
func (s *servers) connectTo(server mcp.Server) run.Connect {
	program := pipeline.Program{
		For:   permissions.Identity{Origin: server.Provenance().Digest, OriginName: "the MCP server " + kinds.Line(server.Name, lineRunes)},
		Hosts: server.Hosts,
	}
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
		if unlisted != nil && !server.Project {
			text += fmt.Sprintf("; to open it, add %s to %s of its entry", code(fmt.Sprintf("%q", unlisted.Host)), code("network"))
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
	about := hostOfServer{mcp.ID(server.Name), unlisted.Host}
	answer, first := s.hosts.answer(about)
	if answer == nil {
		return &egress.Refusal{Reason: "this server reaches for too many hosts to ask about each"}
	}
	if first {
		s.life.start(func() {
			defer s.Pause(s.life.ctx, about.id)()
			asked, err := s.hosts.questions.ask(s.life.ctx, hostQuestionOf(server, unlisted, to))
			answer.once = asked != tools.RejectAlways // what was allowed for longer is a rule
			if answer.err = refusalOf(asked, err); asked == tools.Cancelled {
				s.hosts.forget(about)
			}
			close(answer.done)
		})
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

// hostQuestionOf is the question about a host that a server reaches for.
func hostQuestionOf(server mcp.Server, unlisted *pipeline.Unlisted, to egress.Destination) hostQuestion {
	text := fmt.Sprintf("The MCP server %s (%s, from %s) reaches for %s", code(server.Name), code(server.Place()), server.Origin, code(to.Pair()))
	if to.Private != "" {
		text += fmt.Sprintf(", which is not on the public web (%s)", to.Private)
	}
	return hostQuestion{
		Title:    kinds.Line("Let "+server.Name+" connect to "+unlisted.Host, maxHostTitle),
		Reason:   kinds.Line("the MCP server "+server.Name+" reaches for "+to.Pair(), maxHostTitle),
		Remember: kinds.Line("connections of "+server.Name+" to "+unlisted.Host, maxHostTitle),
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

// noteHost keeps a note for /mcp, and logs it when it is new.
func (s *servers) noteHost(server mcp.Server, text string) {
	id := mcp.ID(server.Name)
	if s.hosts.note(id, text) {
		s.host.Logger.Warn("mcp server", "server", id, "network", kinds.Line(text, lineRunes))
	}
}

package session

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/capability"
	"acp-agent/kinds"
	"acp-agent/mcp"
	"acp-agent/permissions"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// A server may reach for any number of hosts.
const (
	maxHostNotes   = 8   // about the network of one server
	maxHostsOpen   = 4   // questions about hosts of one server at a time
	maxHostsShut   = 32  // hosts of one server that the user was asked about and has not allowed
	maxHostRecords = 100 // in the audit, of one run of a server's program
	maxServerName  = 60  // runes of the name of a server in a question
)

// serverHosts has what is known of the hosts that the programs of servers reach for. It is safe for
// concurrent use.
type serverHosts struct {
	questions *hostQuestions // nil where no user can be asked

	mu    sync.Mutex          // guards what follows, and the answers until they are known
	notes map[string][]string // by the ids of the servers, as people read them
	asked map[hostOfServer]*hostAnswer
}

// hostOfServer is a host as rules name it, for one server as it is: the server that takes its name, or
// that it becomes, has none of its answers.
type hostOfServer struct {
	server permissions.Identity
	name   string
}

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
	pipeline.HostDecision
	// unanswered says that the question was dismissed, or did not come to be shown.
	unanswered bool
}

// note adds a text to the notes of a server, and reports whether it is new.
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
		case answer.Err != nil:
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
	answer.HostDecision, answer.unanswered = decisionOf(asked, err), asked == tools.Cancelled
	if asking.Err() != nil || answer.Err == nil && asked != tools.AllowOnce {
		delete(h.asked, about)
	}
	answer.withdraw()
	close(answer.done)
}

// started forgets what the user allowed to the last run of a server's program.
func (h *serverHosts) started(server *mcp.Server) {
	h.forget(func(about hostOfServer, answer *hostAnswer) bool {
		return answer.Err == nil && about.server == hostIdentity(server)
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
	there := map[permissions.Identity]bool{}
	for i := range list {
		there[hostIdentity(&list[i])] = true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for about, answer := range h.asked {
		if !there[about.server] {
			answer.withdraw()
		}
	}
}

// refused returns what the user has rejected, or not answered in time, as the rules that it amounts to.
func (h *serverHosts) refused() (rules []permissions.Rule) {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for about, answer := range h.asked {
		if answer.isKnown() && answer.Err != nil && !answer.unanswered {
			rules = append(rules, refusalRule(about, answer))
		}
	}
	slices.SortFunc(rules, func(a, b permissions.Rule) int {
		return cmp.Or(cmp.Compare(a.For.OriginName, b.For.OriginName), cmp.Compare(a.Pattern, b.Pattern), cmp.Compare(a.For.Origin, b.For.Origin))
	})
	return rules
}

// takeBack forgets what the user has rejected, so that the next connection is asked about again. It reports whether
// there was such an answer.
func (h *serverHosts) takeBack(rule permissions.Rule) (had bool) {
	h.forget(func(about hostOfServer, answer *hostAnswer) bool {
		same := answer.Err != nil && !answer.unanswered && refusalRule(about, answer) == rule
		had = had || same
		return same
	})
	return had
}

// refusalRule is the rule that a refusal amounts to, as /permissions lists it.
func refusalRule(about hostOfServer, answer *hostAnswer) permissions.Rule {
	rule := permissions.Rule{
		Permission: permissions.NetworkTool, Pattern: about.name, Action: capability.Deny, Source: pipeline.SourceAnswer, For: about.server,
	}
	switch answer.By {
	case pipeline.ByTimeout:
		rule.Source = "not answered in time in this session"
	case pipeline.ByWithdrawn:
		rule.Source = "you could not be asked in this session"
	}
	return rule
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

// isOwn reports whether a server is of the user's own configuration.
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

package acptest

import (
	"fmt"
	"slices"
	"time"
)

// Check judges a run by the rules that hold for every run, and returns what is
// wrong. ended says that the agent was allowed to end by itself, so that
// nothing may be left open.
func Check(lines []Line, ended bool) []string {
	c := &checker{open: map[string][]*Message{}, sessions: map[string]*sessionState{}}
	for _, l := range lines {
		switch {
		case l.Message == nil:
		case l.FromAgent:
			c.at = l.At
			c.fromAgent(l.Message)
		default:
			c.fromClient(l.Message)
		}
	}
	if ended {
		c.atEnd()
	}
	return c.problems
}

type checker struct {
	problems []string
	// open are the client's requests without an answer, by id.
	open map[string][]*Message
	// unread counts answers about lines that could not be read: they have no id,
	// though the line may have had one.
	unread int
	// offered is what the client said it can do; nil before initialize.
	offered     any
	client      string // the client's name
	initialized bool
	sessions    map[string]*sessionState
	at          time.Time // of the agent's line that is judged
}

// sessionState is what the client knows of a session.
type sessionState struct {
	turns  int // prompts without an answer
	ended  int // prompts with one
	closed bool
	calls  map[string]*callState
	// child says that it is the session of a subagent, which has no turns.
	child bool
	// spawns says that a subagent went on in the background, so that a message may tell
	// of its end at any time.
	spawns bool
	// detached says that a message of methodSteer may run as a turn that no prompt waits for.
	detached bool
	// cancelled says that the client has cancelled the running turn.
	cancelled bool
	facts     facts
}

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) fromClient(m *Message) {
	if s := c.sessions[m.Session()]; s != nil && m.Method == methodCancel {
		s.cancelled = s.turns > 0
	}
	if !m.IsRequest() {
		return
	}
	id := string(m.ID)
	c.open[id] = append(c.open[id], m)
	if m.Method == methodInitialize {
		c.offered = m.Get("clientCapabilities")
		c.client, _ = m.Get("clientInfo.name").(string)
	}
	if m.Method == methodLoad { // the replay comes before the answer
		s := newSessionState()
		s.turns = 1
		c.sessions[m.Session()] = s
	}
	s := c.sessions[m.Session()]
	switch {
	case s == nil:
	case m.Method == methodSteer:
		s.detached = m.Get("_meta.steering.idleBehavior") == nil
	case m.Method == methodPrompt:
		s.detached = false
		s.turns++
		s.facts.prompted()
	}
}

func (c *checker) fromAgent(m *Message) {
	switch {
	case m.IsResponse():
		c.response(m)
	case !c.initialized:
		c.problem("%s came before the answer to initialize", m.Method)
	case m.Method == methodUpdate:
		c.update(m)
	case m.IsRequest():
		c.request(m)
	}
}

// response pairs an answer with its request.
func (c *checker) response(m *Message) {
	id := string(m.ID)
	if id == "null" || id == "" {
		if m.Error == nil {
			c.problem("a result without an id: %s", m.Result)
		}
		c.unread++
		return
	}
	asked := c.open[id]
	if len(asked) == 0 {
		c.problem("an answer to %s, which was never asked, or answered before", id)
		return
	}
	request := asked[0]
	c.open[id] = asked[1:]
	switch request.Method {
	case methodInitialize:
		c.initialized = c.initialized || m.Error == nil
	case methodNew, "session/fork":
		c.sessionOpened(m)
	case methodLoad, "session/resume":
		c.sessionResumed(request.Session(), m)
	case methodPrompt:
		c.turnEnded(request, m)
	case methodClose:
		if s := c.sessions[request.Session()]; s != nil && m.Error == nil {
			s.closed = true
		}
	case "session/set_config_option":
		c.options(m.Get("result.configOptions"))
		if s := c.sessions[request.Session()]; s != nil && m.Error == nil {
			s.facts.note("config_option_update", m.Get("result.configOptions"))
		}
	}
}

func (c *checker) sessionOpened(m *Message) {
	if m.Error != nil {
		return
	}
	id, _ := m.Get("result.sessionId").(string)
	if id == "" || c.sessions[id] != nil {
		c.problem("session/new answered with the session id %q, which is empty or taken", id)
	}
	c.sessions[id] = newSessionState()
	c.openedState(c.sessions[id], m)
}

func newSessionState() *sessionState {
	return &sessionState{calls: map[string]*callState{}, facts: facts{told: map[string]string{}}}
}

// sessionResumed judges the answer to session/load and session/resume, which ends the replay.
func (c *checker) sessionResumed(id string, m *Message) {
	if m.Error != nil {
		delete(c.sessions, id)
		return
	}
	if c.sessions[id] == nil {
		c.sessions[id] = newSessionState()
	}
	for call, state := range c.sessions[id].calls {
		if !state.final() && state.status != "pending" {
			c.problem("the replay leaves the call %s %s", call, state.status)
		}
	}
	c.sessions[id].turns = 0
	c.openedState(c.sessions[id], m)
}

// openedState judges what the answer to a request that opens a session says of its state.
func (c *checker) openedState(s *sessionState, m *Message) {
	c.options(m.Get("result.configOptions"))
	s.facts.note("config_option_update", m.Get("result.configOptions"))
	s.facts.note("current_mode_update", m.Get("result.modes.currentModeId"))
	s.facts.note(sandboxTold, m.Get("result._meta"))
	current, known := m.Get("result.modes.currentModeId"), false
	modes, _ := m.Get("result.modes.availableModes").([]any)
	for _, mode := range modes {
		known = known || at(mode, "id") == current
	}
	if current != nil && !known {
		c.problem("the current mode %v is not among the available modes", current)
	}
}

// turnEnded judges the answer to a prompt. A cancel leaves nothing in the background but jobs.
func (c *checker) turnEnded(request, answer *Message) {
	s := c.sessions[request.Session()]
	if s == nil {
		return
	}
	s.turns--
	s.ended++
	if s.turns > 0 {
		return // another prompt is queued, and may have started
	}
	aborted := s.cancelled && answer.Get("result.stopReason") == "cancelled"
	s.cancelled = false
	if answer.Get("result.stopReason") == "cancelled" {
		s.facts.quietFrom = c.at
	}
	for id, call := range s.calls {
		if !call.final() && (aborted && !call.isJob() || !s.outlives(id)) {
			c.problem("the turn was answered while the call %s was still %s", id, call.status)
		}
	}
}

// always are updates that may come outside a turn; a notice only comes to a client that
// offers a place for it.
var always = []string{"available_commands_update", "config_option_update", "current_mode_update", "session_info_update", "notice"}

func (c *checker) update(m *Message) {
	kind, members := m.Update()
	s := c.sessions[m.Session()]
	switch {
	case s == nil:
		c.problem("%s for the session %q, which the client does not know yet", kind, m.Session())
		return
	case s.closed:
		c.problem("%s for a session that is closed", kind)
	case s.turns <= 0 && !s.detached && !s.child && !slices.Contains(always, kind) && !c.aboutBackground(s, kind, members):
		c.problem("%s outside a turn: %s", kind, encode(members))
	}
	c.seen(s, m)
	c.offer(kind, members)
	if text, ok := at(members, "content.text").(string); ok && text == "" {
		c.problem("%s without text", kind)
	}
	if !s.child {
		c.fact(m.Session(), s, kind, members)
	}
	switch kind {
	case "tool_call":
		c.callOpened(s, members)
	case "tool_call_update":
		c.callUpdated(s, members)
	case "config_option_update":
		c.options(members["configOptions"])
	case "subagent_update":
		if id, _ := members["sessionId"].(string); c.sessions[id] == nil {
			c.sessions[id] = &sessionState{calls: map[string]*callState{}, child: true}
		}
	}
}

func (c *checker) atEnd() {
	for id, asked := range c.open {
		for _, m := range asked {
			if c.unread--; c.unread < 0 {
				c.problem("%s (id %s) was never answered", m.Method, id)
			}
		}
	}
	for _, s := range c.sessions {
		for id, call := range s.calls {
			if !call.final() && (s.closed || !s.outlives(id)) { // the end of the input ends what is in the background, unseen
				c.problem("the call %s was left %s", id, call.status)
			}
		}
	}
}

package v1

import (
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/acp/schema"
	"acp-agent/session"
	"acp-agent/transcript"
)

// notifier sends notifications in order; it blocks while the client stalls. Position is that
// of rpc.Conn.
type notifier interface {
	Notify(method string, params any) error
	Position() (sent, written int64)
}

// translator turns a session's events into session/update notifications. It is
// the only place that does, and holds nothing but what is needed to send no
// field twice and no text late.
//
// Emit blocks while the client does not read, and with it whoever emits: that
// is how a stalled editor slows a model down instead of filling memory.
// Goroutines: a timer, stopped at the end of each turn unless subagents run on in
// the background or a fact waits, and by stop, that sends text which no later event has
// pushed out and facts at the end of a quiet.
type translator struct {
	conn    notifier
	client  client
	session string                              // the session's id, set before the first event
	options func() []schema.SessionConfigOption // neither blocks
	mode    func() string
	sandbox func() map[string]any // the _meta of how processes are confined
	slashes func() []session.Command
	over    func() bool // reports whether the session has ended
	now     func() time.Time
	quiet   quiet
	line    *line
	setting atomic.Int64 // requests to set an option that are not answered
	ids     transcript.IDs
	// unbroken says that the text since the last prompt ends without a blank line. The read
	// loop sets it, too.
	unbroken atomic.Bool

	mu       sync.Mutex
	calls    map[string]*callView
	children map[string]*childView // by the call that spawned them
	text     stream                // what the main agent says
	apart    bool                  // its next text does not belong to the one that stands before it
	known    [factCount]string     // of each fact, the encoded value that the client has
	held     [factCount]bool       // facts that changed in a quiet
	title    transcript.TitleChanged
	plan     transcript.PlanChanged
	waiting  []transcript.Notice    // notices that came outside a prompt
	turns    int                    // those that have ended
	late     []schema.SessionUpdate // what came between turns, where the client would drop it
	timer    *time.Timer
	due      time.Time // when the timer fires; zero when it is not set
}

func newTranslator(conn notifier, c client) *translator {
	t := &translator{
		conn: conn, client: c, now: time.Now, over: func() bool { return false },
		calls: map[string]*callView{}, children: map[string]*childView{}, text: newStream(),
	}
	t.line = &line{translator: t, again: map[string]bool{}}
	t.quiet.now = func() time.Time { return t.now() }
	t.timer = time.AfterFunc(time.Hour, t.tick)
	t.timer.Stop()
	return t
}

// Emit sends what an event means to an editor.
func (t *translator) Emit(e transcript.Event) {
	switch e.(type) {
	case transcript.UserSaid:
		t.line.turnBegins()
	case transcript.TurnFinished:
		t.line.turnEnds()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release()
	if nested, ok := e.(transcript.ChildEvent); ok {
		t.emitChild(t.innermost(nested))
		return
	}
	switch e.(type) {
	case transcript.PartDelta, transcript.ToolOutput, transcript.ToolCard: // they come in pieces
	default:
		t.flushText()
	}
	t.emit(e)
}

// emit sends what an event of the main agent means. The lock is held.
func (t *translator) emit(e transcript.Event) {
	switch e := e.(type) {
	case transcript.TurnFinished:
		t.endTurn()
	case transcript.PartStarted, transcript.PartDelta, transcript.PartEnded:
		t.part(t.session, &t.text, e)
	case transcript.AgentSaid:
		t.message(e.Message.ID, e.Message.Text())
	case transcript.UsageChanged:
		if e.Size > 0 { // the measure of a step, which is news even if it is that of the one before
			t.send(usageUpdate(e))
		}
	case transcript.TitleChanged:
		if e.Title != t.title.Title {
			t.title = e
			t.state(titleFact)
		}
	case transcript.TurnStarted:
		t.text.said.Reset()
		t.apart = true         // a prompt that was queued stands before the answer of the one before
		t.known[planFact] = "" // a client may put a plan away with the next prompt
	case transcript.PlanChanged:
		t.plan = e
		t.state(planFact)
	case transcript.ModeChanged, transcript.OptionsChanged, transcript.CommandsChanged, transcript.SandboxFound:
		t.emitSession(e)
	case transcript.Notice:
		// A client with notices shows one wherever it comes, a message only within a turn.
		if t.quiet.prompts.Load() == 0 && (!t.client.notices || t.quiet.holds()) {
			t.waiting = append(t.waiting, e)
			return
		}
		t.notice(e)
	default:
		t.emitCall(e, nil)
	}
}

// emitSession sends what is true of the session, whichever of its agents has changed it.
func (t *translator) emitSession(e transcript.Event) {
	switch e.(type) {
	case transcript.ModeChanged, transcript.OptionsChanged: // the mode is one of the options
		t.state(modeFact, optionsFact)
	case transcript.CommandsChanged:
		t.state(commandsFact)
	case transcript.SandboxFound:
		t.state(sandboxFact)
	}
}

// send writes one update of the session.
func (t *translator) send(update schema.SessionUpdate) {
	if t.lost(update) {
		t.keepLate(update)
		return
	}
	if t.quiet.prompts.Load() > 0 {
		t.sendLate()
	}
	if _, card := update.(schema.ToolCall); card {
		t.apart = false
	}
	t.sendTo(t.session, update)
}

// sendTo writes one update. A broken connection is noticed by its owner.
func (t *translator) sendTo(session string, update schema.SessionUpdate) {
	_ = t.conn.Notify(schema.MethodSessionUpdate, &schema.SessionNotification{SessionID: schema.SessionId(session), Update: update})
}

// schedule has the timer fire after wait, or earlier if it is set to.
func (t *translator) schedule(wait time.Duration) {
	due := t.now().Add(wait)
	if t.due.IsZero() || due.Before(t.due) {
		t.due = due
		t.timer.Reset(wait)
	}
}

// tick is the timer: it sends what is due.
func (t *translator) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = time.Time{}
	t.flushDue(t.session, &t.text)
	for _, child := range t.children {
		t.flushDue(child.session, &child.text)
	}
	for id, view := range t.calls {
		t.flushOutputDue(id, view)
		t.flushCardDue(id, view)
	}
	t.release()
}

// flushText sends the text of the main agent that waits.
func (t *translator) flushText() { t.flushStream(t.session, &t.text) }

func (t *translator) flushAll() {
	t.flushText()
	for _, child := range t.children {
		t.flushStream(child.session, &child.text)
	}
	t.flushOutputs()
}

// endTurn forgets whatever could still wait, so that nothing of the turn is
// sent behind its end, not even by a timer that has just fired. What belongs to
// subagents in the background is not of the turn.
func (t *translator) endTurn() {
	t.turns++
	clear(t.text.parts)
	maps.DeleteFunc(t.calls, func(id string, _ *callView) bool { return !t.survives(id) })
	maps.DeleteFunc(t.children, func(id string, _ *childView) bool { return !t.survives(id) })
	if len(t.children) == 0 && t.held == [factCount]bool{} {
		t.timer.Stop()
		t.due = time.Time{}
	}
}

// flush sends whatever waits, as before a question to the person.
func (t *translator) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushAll()
}

package v1

import (
	"maps"
	"strings"
	"sync"
	"time"

	"acp-agent/acp/schema"
	"acp-agent/session"
	"acp-agent/transcript"
)

// notifier sends notifications in order; it blocks while the client stalls.
type notifier interface {
	Notify(method string, params any) error
}

// translator turns a session's events into session/update notifications. It is
// the only place that does, and holds nothing but what is needed to send no
// field twice and no text late.
//
// Emit blocks while the client does not read, and with it whoever emits: that
// is how a stalled editor slows a model down instead of filling memory.
// Goroutines: a timer, stopped at the end of each turn unless subagents run on in
// the background, that sends text which no later event has pushed out.
type translator struct {
	conn    notifier
	client  client
	session string                              // the session's id, set before the first event
	options func() []schema.SessionConfigOption // neither blocks
	mode    func() string
	sandbox func() map[string]any // the _meta of how processes are confined
	slashes func() []session.Command
	now     func() time.Time

	mu       sync.Mutex
	calls    map[string]*callView
	children map[string]*childView // by the call that spawned them
	text     stream                // what the main agent says
	listed   []session.Command     // the slash commands that the client was told of last
	timer    *time.Timer
	due      time.Time // when the timer fires; zero when it is not set
}

func newTranslator(conn notifier, c client) *translator {
	t := &translator{
		conn: conn, client: c, now: time.Now,
		calls: map[string]*callView{}, children: map[string]*childView{}, text: newStream(),
	}
	t.timer = time.AfterFunc(time.Hour, t.tick)
	t.timer.Stop()
	return t
}

// Emit sends what an event means to an editor.
func (t *translator) Emit(e transcript.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if nested, ok := e.(transcript.ChildEvent); ok {
		t.emitChild(t.innermost(nested))
		return
	}
	switch e.(type) {
	case transcript.PartDelta, transcript.ToolOutput, transcript.ToolCard: // they come in pieces
	default:
		t.flushText()
	}
	switch e := e.(type) {
	case transcript.TurnFinished:
		t.endTurn()
	case transcript.PartStarted, transcript.PartDelta, transcript.PartEnded:
		t.part(t.session, &t.text, e)
	case transcript.AgentSaid:
		t.send(textUpdate(transcript.TextKind, e.Message.ID, e.Message.Text()))
	case transcript.UsageChanged:
		if e.Size > 0 {
			t.send(usageUpdate(e))
		}
	case transcript.TitleChanged:
		t.send(titleUpdate(e))
	case transcript.PlanChanged:
		t.send(planUpdate(e))
	case transcript.ModeChanged, transcript.OptionsChanged, transcript.CommandsChanged, transcript.SandboxFound:
		t.emitSession(e)
	case transcript.Notice:
		t.notice(e)
	default:
		t.emitCall(e, nil)
	}
}

// emitSession sends what is true of the session, whichever of its agents has changed it.
func (t *translator) emitSession(e transcript.Event) {
	switch e.(type) {
	case transcript.ModeChanged:
		// The mode is read here, not taken from the event: two changes in a row
		// may arrive in either order, and the last word must be true.
		t.send(modeUpdate(t.mode()))
		t.send(optionsUpdate(t.options()))
	case transcript.OptionsChanged:
		t.send(optionsUpdate(t.options()))
	case transcript.CommandsChanged:
		t.commands()
	case transcript.SandboxFound:
		t.send(schema.SessionInfoUpdate{Meta: t.sandbox()})
	}
}

// send writes one update of the session.
func (t *translator) send(update schema.SessionUpdate) { t.sendTo(t.session, update) }

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

// tick is the timer: it sends what waits.
func (t *translator) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.due = time.Time{}
	t.flushAll()
	t.flushCards()
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
	clear(t.text.parts)
	maps.DeleteFunc(t.calls, func(id string, _ *callView) bool { return !t.survives(id) })
	maps.DeleteFunc(t.children, func(id string, _ *childView) bool { return !t.survives(id) })
	if len(t.children) == 0 {
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

// plain keeps a text from being read as a link, a picture or HTML: a notice may quote a
// file that nobody trusts (O3).
var plain = strings.NewReplacer(`\`, `\\`, "[", `\[`, "<", `\<`)

// notice tells the person something in the form that the client can show.
func (t *translator) notice(e transcript.Notice) {
	if t.client.notices {
		t.send(noticeUpdate(e))
		return
	}
	kind := transcript.TextKind
	said := plain.Replace(e.Text)
	text := "_" + said + "_\n\n"
	if e.Severity == transcript.Info {
		kind, text = transcript.ReasoningKind, said+"\n\n"
	}
	t.send(textUpdate(kind, "", text))
}

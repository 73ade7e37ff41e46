package v1

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

// Pacing of streamed text: the first piece goes out at once, then at most one
// update per textInterval or textBytes, so that a fast model does not flood an
// editor and a slow one is shown without delay.
const (
	textInterval = 25 * time.Millisecond
	textBytes    = 4 << 10
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
// Goroutines: a timer, stopped at the end of each turn, that sends text which
// no later event has pushed out.
type translator struct {
	conn    notifier
	client  client
	session string                              // the session's id, set before the first event
	options func() []schema.SessionConfigOption // neither blocks
	mode    func() string
	sandbox func() map[string]any // the _meta of how processes are confined
	now     func() time.Time

	mu    sync.Mutex
	parts map[string]openPart
	calls map[string]*callView

	text   strings.Builder // not sent yet, of part textOf
	textOf openPart
	sent   time.Time // when text was last sent
	timer  *time.Timer
	due    time.Time // when the timer fires; zero when it is not set
}

// openPart is a part that is streaming in.
type openPart struct {
	message string
	kind    transcript.PartKind
}

func newTranslator(conn notifier, c client) *translator {
	t := &translator{
		conn: conn, client: c, now: time.Now,
		parts: map[string]openPart{}, calls: map[string]*callView{},
	}
	t.timer = time.AfterFunc(time.Hour, t.tick)
	t.timer.Stop()
	return t
}

// Emit sends what an event means to an editor.
func (t *translator) Emit(e transcript.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if delta, ok := e.(transcript.PartDelta); ok {
		t.grow(delta)
		return
	}
	if _, ok := e.(transcript.ToolOutput); !ok {
		t.flushText()
	}
	switch e := e.(type) {
	case transcript.TurnFinished:
		t.endTurn()
	case transcript.PartStarted:
		t.parts[e.PartID] = openPart{e.MessageID, e.Kind}
	case transcript.PartEnded:
		delete(t.parts, e.PartID)
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
	case transcript.ModeChanged:
		// The mode is read here, not taken from the event: two changes in a row
		// may arrive in either order, and the last word must be true.
		t.send(modeUpdate(t.mode()))
		t.send(optionsUpdate(t.options()))
	case transcript.OptionsChanged:
		t.send(optionsUpdate(t.options()))
	case transcript.SandboxFound:
		t.send(schema.SessionInfoUpdate{Meta: t.sandbox()})
	case transcript.Notice:
		t.notice(e)
	default:
		t.emitCall(e)
	}
}

// send writes one update. A broken connection is noticed by its owner.
func (t *translator) send(update schema.SessionUpdate) {
	_ = t.conn.Notify(schema.MethodSessionUpdate, &schema.SessionNotification{SessionID: schema.SessionId(t.session), Update: update})
}

// grow adds to the text that waits, and sends it when it is due.
func (t *translator) grow(delta transcript.PartDelta) {
	part, ok := t.parts[delta.PartID]
	if !ok {
		return
	}
	if t.text.Len() > 0 && t.textOf != part {
		t.flushText()
	}
	t.textOf = part
	t.text.WriteString(delta.Text)
	wait := textInterval - t.now().Sub(t.sent)
	if wait <= 0 || t.text.Len() >= textBytes {
		t.flushText()
		return
	}
	t.schedule(wait)
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
	t.flushText()
	t.flushOutputs()
}

// flushText sends the text that waits.
func (t *translator) flushText() {
	if t.text.Len() == 0 {
		return
	}
	text := t.text.String()
	t.text.Reset()
	t.sent = t.now()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "�")
	}
	t.send(textUpdate(t.textOf.kind, t.textOf.message, text))
}

// endTurn forgets whatever could still wait, so that nothing of the turn is
// sent behind its end, not even by a timer that has just fired.
func (t *translator) endTurn() {
	t.timer.Stop()
	t.due = time.Time{}
	clear(t.parts)
	clear(t.calls)
}

// flush sends whatever waits, as before a question to the person.
func (t *translator) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushText()
	t.flushOutputs()
}

// notice tells the person something in the form that the client can show.
func (t *translator) notice(e transcript.Notice) {
	if t.client.notices {
		t.send(noticeUpdate(e))
		return
	}
	kind := transcript.TextKind
	text := "_" + e.Text + "_\n\n"
	if e.Severity == transcript.Info {
		kind, text = transcript.ReasoningKind, e.Text+"\n\n"
	}
	t.send(textUpdate(kind, "", text))
}

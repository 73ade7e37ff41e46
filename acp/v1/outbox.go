package v1

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"acp-agent/acp/schema"
	"acp-agent/transcript"
)

// notifier sends notifications in order; it blocks while the client does not read. Position
// is that of rpc.Conn.
type notifier interface {
	Notify(method string, params any) error
	Position() (sent, written int64)
}

// outbox sends the updates of one session in order. It gathers streamed text, keeps messages
// apart, and defers what the client would drop between turns. The translator's lock guards
// it.
type outbox struct {
	pacer
	client   client
	session  string // the session's id, set before the first event
	ids      transcript.IDs
	quiet    quietPeriod
	deferred deferredUpdates
	// dropped is called with the id of a call whose updates deferred had no room for.
	dropped func(call string)

	text stream // of the main agent
	// replaying says that what is emitted is a stored conversation.
	replaying bool
	// newBlock says that the next text does not continue the one before it.
	newBlock bool
	// openLine says that the text since the last prompt ends without a blank line. The read
	// loop sets it as well.
	openLine atomic.Bool
}

// send sends one update of the session, or defers it.
func (o *outbox) send(update schema.SessionUpdate) {
	if o.clientDrops(update) {
		if call := o.deferred.add(update); call != "" {
			o.dropped(call)
		}
		return
	}
	if o.quiet.prompts.Load() > 0 {
		o.sendDeferred()
	}
	if _, card := update.(schema.ToolCall); card {
		o.newBlock = false
	}
	o.sendTo(o.session, update)
}

// sendTo sends one update of a session: this one or that of a subagent. The owner of the
// connection notices when it is broken.
func (o *outbox) sendTo(session string, update schema.SessionUpdate) {
	_ = o.conn.Notify(schema.MethodSessionUpdate, &schema.SessionNotification{SessionID: schema.SessionId(session), Update: update})
}

// message sends a whole message of the agent. Many clients join the texts of all messages,
// so a blank line separates it from the text before it.
func (o *outbox) message(text string) { o.messageWithID(o.ids.New(transcript.MessagePrefix), text) }

func (o *outbox) messageWithID(id, text string) {
	if o.openLine.Load() {
		text = "\n\n" + text
	}
	o.noteEnd(text)
	o.newBlock = true
	o.send(textUpdate(transcript.TextKind, id, text))
}

// noteEnd notes how the text of the main agent ends.
func (o *outbox) noteEnd(text string) {
	o.openLine.Store(!strings.HasSuffix(text, "\n\n"))
	o.newBlock = false
}

// part handles the event of a part that an agent streams, and shows it in a session.
func (o *outbox) part(session string, s *stream, e transcript.Event) {
	switch e := e.(type) {
	case transcript.PartStarted:
		s.parts[e.PartID] = openPart{e.MessageID, e.Kind}
	case transcript.PartDelta:
		o.appendText(session, s, e)
	case transcript.PartEnded:
		delete(s.parts, e.PartID)
	}
}

// appendText adds to the text that is waiting, and sends it when it is due.
func (o *outbox) appendText(session string, s *stream, delta transcript.PartDelta) {
	part, ok := s.parts[delta.PartID]
	if !ok {
		return
	}
	if s.waiting.Len() > 0 && s.of != part {
		o.flushStream(session, s)
	}
	s.of = part
	s.waiting.WriteString(delta.Text)
	o.flushStreamDue(session, s)
}

// flushStreamDue sends the waiting text of a stream if it is due, and otherwise sets the timer.
func (o *outbox) flushStreamDue(session string, s *stream) {
	if s.waiting.Len() == 0 {
		return
	}
	if wait := o.wait(s.last, textInterval); wait > 0 && s.waiting.Len() < textBytes {
		o.schedule(wait)
		return
	}
	o.flushStream(session, s)
}

// flushStream sends the waiting text of a stream.
func (o *outbox) flushStream(session string, s *stream) {
	if s.waiting.Len() == 0 {
		return
	}
	text := s.waiting.String()
	s.waiting.Reset()
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "�")
	}
	if session == o.session && s.of.kind == transcript.TextKind {
		if o.newBlock && o.openLine.Load() {
			text = "\n\n" + text
		}
		o.noteEnd(text)
		s.note(text)
	}
	o.sendTo(session, textUpdate(s.of.kind, s.of.message, text))
	s.last = o.mark()
}

// flushText sends the waiting text of the main agent.
func (o *outbox) flushText() { o.flushStream(o.session, &o.text) }

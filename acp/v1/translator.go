package v1

import (
	"sync"
	"time"

	"acp-agent/transcript"
)

// translator turns the events of a session into session/update notifications. Nothing else
// sends these. It keeps only what it needs to send no field twice and no text late.
//
// Emit blocks while the client does not read, and with it whatever emits: so a stalled editor
// slows a model down instead of filling memory.
//
// Goroutines: a timer, which sends text that no later event has flushed, and state at the end
// of a quiet period. It is stopped by stop, and at the end of each turn unless a subagent or a
// job continues in the background or state is held back.
type translator struct {
	// questions is the queue of questions to the user; it has a lock of its own.
	questions *questionQueue

	mu    sync.Mutex // guards what follows, and is held while an update is sent
	out   outbox
	state state
	cards cards
	// notices wait for a prompt: they arrived between turns.
	notices []transcript.Notice
}

func newTranslator(conn notifier, c client) *translator {
	t := &translator{}
	t.out.pacer = pacer{conn: conn, now: time.Now}
	t.out.client, t.out.text = c, newStream()
	t.out.quiet.now = func() time.Time { return t.out.now() }
	t.out.timer = time.AfterFunc(time.Hour, t.tick)
	t.out.timer.Stop()
	t.out.dropped = func(call string) {
		if view := t.cards.calls[call]; view != nil {
			view.stage = held
		}
	}
	t.state.out = &t.out
	t.cards = cards{out: &t.out, calls: map[string]*callView{}, children: map[string]*childView{}}
	t.questions = &questionQueue{translator: t, withdrawn: map[string]bool{}}
	return t
}

// connect gives the translator its session. The timer of a replay may run by then.
func (t *translator) connect(id string, view sessionView) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.session, t.state.session = id, view
}

// Emit sends what an event means to an editor.
func (t *translator) Emit(e transcript.Event) {
	switch e := e.(type) {
	case transcript.UserSaid:
		if !e.Message.Aside {
			t.questions.turnStarted()
		}
	case transcript.TurnFinished:
		t.questions.turnEnding()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sendHeld()
	if nested, ok := e.(transcript.ChildEvent); ok {
		t.emitChild(t.cards.innermost(nested))
		return
	}
	switch e.(type) {
	case transcript.PartDelta, transcript.ToolOutput, transcript.JobOutput, transcript.ToolCard: // streamed in pieces
	default:
		t.out.flushText()
	}
	t.emit(e)
}

// emit sends what an event of the main agent means. The lock is held.
func (t *translator) emit(e transcript.Event) {
	switch e := e.(type) {
	case transcript.TurnStarted:
		t.out.text.said.Reset()
		t.out.newBlock = true         // an editor shows a queued prompt before this text
		t.state.known[planState] = "" // a client may put a plan away with the next prompt
	case transcript.TurnFinished:
		t.endTurn()
	case transcript.PartStarted, transcript.PartDelta, transcript.PartEnded:
		t.out.part(t.out.session, &t.out.text, e)
	case transcript.AgentSaid:
		if text := e.Message.Typed(); text != "" { // a model alone sees the others
			t.out.messageWithID(e.Message.ID, text)
		}
		for _, call := range e.Message.Calls() {
			transcript.UnfoldCall(e.Message.ID, call, func(e transcript.Event) { t.cards.emit(e, nil) })
		}
	case transcript.UsageChanged:
		if e.Size > 0 { // a step's measure is sent even if it equals that of the step before
			t.out.send(usageUpdate(e))
		}
	case transcript.CompactionStarted, transcript.CompactionFailed, transcript.Compacted:
		t.out.compaction(e)
	case transcript.TitleChanged:
		if e.Title != t.state.title.Title {
			t.state.title = e
			t.state.changed(titleState)
		}
	case transcript.PlanChanged:
		t.state.plan = e
		t.state.changed(planState)
	case transcript.ModeChanged, transcript.OptionsChanged, transcript.CommandsChanged, transcript.SandboxFound:
		t.state.emit(e)
	case transcript.Notice:
		// A client with notices shows one at any time, a message only within a turn.
		if t.out.quiet.prompts.Load() == 0 && (!t.out.client.notices || t.out.quiet.active()) {
			t.notices = append(t.notices, e)
			return
		}
		t.out.notice(e)
	default:
		t.cards.emit(e, nil)
	}
}

// emitChild sends what an event of a subagent means. Its calls are calls of the session,
// linked to the call that spawned it. Its text is not the agent's: only a client that shows
// sessions of subagents gets it. Its turns, title and usage are not sent.
func (t *translator) emitChild(child *childView, e transcript.Event) {
	switch e := e.(type) {
	case transcript.ToolStarted, transcript.ToolReady, transcript.ToolState, transcript.ToolTerminal, transcript.ToolFinished,
		transcript.ChildStarted, transcript.ChildFinished:
		t.out.flushText()
		t.cards.emit(e, child)
	case transcript.ToolOutput, transcript.ToolCard:
		t.cards.emit(e, child)
	case transcript.ModeChanged, transcript.OptionsChanged, transcript.CommandsChanged, transcript.SandboxFound:
		t.out.flushText()
		t.state.emit(e)
	case transcript.Notice:
		t.childNotice(child, e)
	case transcript.Compacted:
		t.childNotice(child, compactionNotice(e.Message.Compaction))
	default:
		if child != nil && child.session != "" {
			t.out.emitInChildSession(child, e)
		}
	}
}

// childNotice sends a notice of a subagent with its name.
func (t *translator) childNotice(child *childView, e transcript.Notice) {
	if child == nil {
		return
	}
	t.out.flushText()
	e.Title, e.Text = breadcrumb(child.names)+e.Title, breadcrumb(child.names)+e.Text
	t.out.notice(e)
}

// sendHeld sends the state that a quiet period held back once it is over, and during a
// prompt the updates and notices that arrived before it.
func (t *translator) sendHeld() {
	if t.out.quiet.active() {
		t.state.scheduleHeld()
		return
	}
	t.state.sendHeld()
	if t.out.quiet.prompts.Load() > 0 {
		t.out.sendDeferred()
		for _, notice := range t.notices {
			t.out.notice(notice)
		}
		t.notices = nil
	}
}

// tick runs when the timer fires, and sends what is due.
func (t *translator) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out.due = time.Time{}
	t.out.flushStreamDue(t.out.session, &t.out.text)
	t.cards.flushDue()
	t.sendHeld()
}

// endTurn drops whatever could still wait, so that nothing of the turn is sent after its end,
// not even by a timer that has just fired. Background subagents and jobs continue.
func (t *translator) endTurn() {
	clear(t.out.text.parts)
	t.cards.endTurn()
	if !t.cards.outliveTurn() && !t.state.anyHeld() {
		t.out.stop()
	}
}

// flush sends whatever waits, as before a question to the user.
func (t *translator) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushAll()
}

// flushAll is flush for callers that hold the lock.
func (t *translator) flushAll() {
	t.out.flushText()
	t.cards.flush()
}

// stop stops the timer and drops what waits for it: the session has ended.
func (t *translator) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state.held, t.notices, t.out.deferred = [stateKinds]bool{}, nil, nil
	t.out.timer.Stop()
}

package session

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/internal/observe"
	"acp-agent/model"
	"acp-agent/transcript"
)

// conversation is what was said in a session, and the one place that every event of the session
// passes, whether of a turn, a call, a subagent or a command. It is safe for concurrent use.
//
// An event takes one of four ways:
//
//	record  into the transcript, and out: to the archive, the parts that watch, and the client
//	emit    out only: the caller has applied it, or it is no part of the transcript
//	note    into the transcript and the archive: the client has it already
//	pass    out, like emit, but not as a part of the command that runs (performer.go)
type conversation struct {
	conversationOptions
	log      *transcript.Log
	memo     model.Memo // the provider's state between requests; used by one turn at a time
	account  *account
	activity *activity
	notices  *notices
	act      atomic.Pointer[act] // of the command that runs, while it is recorded; performer.go
	naming   *naming             // titles; naming.go

	mu sync.Mutex // guards what follows
	// askedAt is when questions were written into the chat; zero when none is unanswered.
	askedAt time.Time
}

// conversationOptions are what a conversation is made of.
type conversationOptions struct {
	sessionID string
	ids       *transcript.IDs
	sink      transcript.Sink
	bus       *observe.Bus
	// watch is called with each event before the client receives it.
	watch func(transcript.Event)
	// archive stores the conversation.
	archive *archive
}

// newConversation returns an empty conversation.
func newConversation(o conversationOptions, account *account) *conversation {
	c := &conversation{conversationOptions: o, log: transcript.NewLog(), account: account, activity: newActivity(time.Now)}
	c.notices = newNotices(c.emit)
	return c
}

// emit passes an event on to the archive, the bus and the client, and counts what it costs.
func (c *conversation) emit(event transcript.Event) {
	c.act.Load().emitted(event, false)
	c.pass(event)
}

// pass is emit for an event that is not of the command that may run.
func (c *conversation) pass(event transcript.Event) {
	c.watch(event)
	c.activity.note(event)
	switch e := event.(type) {
	case transcript.TurnStarted:
		c.publish(observe.TurnStarted, e.At, map[string]any{observe.FieldMessageID: e.MessageID})
	case transcript.TurnFinished:
		c.publish(observe.TurnFinished, time.Now(), observe.FinishedFields(e.Reason, e.PendingApproval))
	case transcript.StepStarted, transcript.StepFinished:
		c.account.note(e)
	case transcript.ToolFinished:
		if e.EndsTurn {
			c.mu.Lock()
			c.askedAt = time.Now()
			c.mu.Unlock()
		}
	case transcript.UsageChanged:
		e, warning := c.account.fill(e)
		event = e
		if warning != "" {
			defer c.sink.Emit(transcript.Notice{Severity: transcript.Warning, Title: "The context fills up", Text: warning})
		}
	}
	c.archive.emit(event)
	c.sink.Emit(event)
}

// record puts an event into the transcript and emits it.
func (c *conversation) record(e transcript.Event) {
	c.act.Load().emitted(e, true)
	c.log.Apply(e)
	c.pass(e)
}

// note puts an event into the transcript and the archive that the client has already, such as a
// prompt that is not run.
func (c *conversation) note(e transcript.Event) {
	c.act.Load().noted(e)
	c.log.Apply(e)
	c.archive.emit(e)
}

// publish notifies the subscribers of the bus of an event of the session (R131).
func (c *conversation) publish(name string, at time.Time, fields map[string]any) {
	c.bus.Publish(observe.Event{Name: name, At: at, SessionID: c.sessionID, Fields: fields})
}

// say shows a text in the agent's name as a message of its own. The model does not see it.
func (c *conversation) say(text string) {
	m := c.newMessage()
	m.Aside, m.Parts = true, []transcript.Part{&transcript.TextPart{ID: c.ids.New(transcript.PartPrefix), Text: text}}
	c.record(transcript.AgentSaid{Message: m})
}

// newMessage makes an empty message in the agent's name, which no model has written.
func (c *conversation) newMessage() *transcript.Message {
	return &transcript.Message{
		ID: c.ids.New(transcript.MessagePrefix), Role: transcript.Assistant, Created: time.Now(), Synthetic: true,
	}
}

// newReport makes a message in the agent's name that the model reads and the user does not see.
func (c *conversation) newReport(text string) *transcript.Message {
	m := c.newMessage()
	m.Parts = []transcript.Part{&transcript.TextPart{ID: c.ids.New(transcript.PartPrefix), Synthetic: true, Text: text}}
	return m
}

// reply answers a prompt in the agent's name. The model sees neither the prompt nor the
// answer.
func (c *conversation) reply(ctx context.Context, prompt *transcript.Message, answer func(context.Context) string) {
	turn := c.ids.New(transcript.TurnPrefix)
	c.emit(transcript.TurnStarted{TurnID: turn, MessageID: prompt.ID, At: time.Now()})
	c.noteAside(prompt)
	c.say(answer(ctx))
	c.emit(transcript.TurnFinished{TurnID: turn, Reason: "finish"})
}

// noteAside puts a prompt into the transcript that no model sees.
func (c *conversation) noteAside(prompt *transcript.Message) {
	prompt.Aside = true
	c.note(transcript.UserSaid{Message: prompt})
}

// early tells the model that a prompt is not the answer to its questions (R75).
const early = "The user sent this message before your questions were in the chat. It does not answer them. " +
	"Do what it says if you can without the answers; the questions stay open for the user's next message."

// markEarly adds early to a prompt that the user sent before the questions were in the chat. The first
// prompt that was sent after them counts as the answer.
func (c *conversation) markEarly(prompt *transcript.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.askedAt.IsZero() {
		return
	}
	if !prompt.Created.Before(c.askedAt) {
		c.askedAt = time.Time{}
		return
	}
	prompt.Parts = append(slices.Clip(prompt.Parts), &transcript.TextPart{Text: early, Synthetic: true})
}

// awaitsAnswer reports whether there are questions in the chat that no prompt has answered.
func (c *conversation) awaitsAnswer() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.askedAt.IsZero()
}

// clear is /clear: it starts a new conversation, of whose predecessor the model sees nothing. The
// record keeps both. It may only run between turns.
func (c *conversation) clear() string {
	c.record(transcript.Cleared{MessageID: c.ids.New(transcript.MessagePrefix), At: time.Now()})
	c.memo = model.Memo{}
	if len(c.log.Memory().Plan) > 0 {
		c.record(transcript.PlanChanged{})
	}
	c.mu.Lock()
	c.askedAt = time.Time{}
	c.mu.Unlock()
	if window := c.account.clear(); window > 0 {
		c.emit(transcript.UsageChanged{Size: window})
	}
	return "A new conversation begins: the model sees nothing of what was said before. Files, mode, model and rules are as they were, and subagents in the background go on.\n"
}

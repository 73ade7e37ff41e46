package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"acp-agent/compaction"
	"acp-agent/internal/record"
	"acp-agent/internal/trace"
	"acp-agent/kinds"
	"acp-agent/model"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// Tools is what the loop needs of the tool pipeline.
type Tools interface {
	// Catalog lists the tools as the model is told of them, in a fixed order.
	Catalog() []model.Tool
	// Label returns the tool id that a name stands for, and the card of a call of it whose
	// arguments are not known yet.
	Label(name string) (id string, card kinds.Card)
	// Prepare takes a call through every stage that needs no user and no
	// side effect. It never fails: what is wrong shows when the call runs.
	Prepare(call pipeline.Call) *pipeline.Prepared
	// Room returns how many bytes the model may be given of each result of a step with so
	// many calls, by its window and what is used of it, in tokens; 0 means no bound.
	Room(window, used, calls int) int
	// Run runs a prepared call to its end and emits its states; the last event
	// of the call is a ToolFinished. It returns promptly when ctx ends.
	Run(ctx context.Context, call *pipeline.Prepared, sink transcript.Sink) transcript.ToolFinished
}

// Options are what a Loop is made of. All fields without a stated default are
// required.
type Options struct {
	Provider model.Provider
	Tools    Tools
	Log      *transcript.Log
	// Sink sees every event after Log has.
	Sink transcript.Sink
	IDs  *transcript.IDs
	// System is the system prompt. It does not change while a session lives, so
	// that prompt caches hit (R138).
	System string
	// Model, ThoughtLevel, Temperature and MaxTokens go into each request.
	Model        string
	ThoughtLevel string
	Temperature  *float64
	MaxTokens    int
	// Window gives the model's context in tokens, 0 when it is not known (yet).
	Window func() int
	// MaxSteps caps the model calls of one turn; 0 means 200.
	MaxSteps int
	// Continue has an answer that the token limit cut go on, as an agent's does that
	// no one is there to continue (R66).
	Continue bool
	// Halt, asked before each model call, says why there is to be none, as Why does; ""
	// means that it may be made, nil that nothing halts the turn.
	Halt func() string
	// Concurrent caps the calls of a batch that run at once; 0 means 10.
	Concurrent int
	// CacheKey and Memo are the conversation's; see model.Request.
	CacheKey string
	Memo     *model.Memo
	// Remind returns what the model has to be told before its next request,
	// beside the conversation; it becomes part of that. nil means nothing.
	Remind func() []transcript.Part
	// Steer returns the user's messages that go into the running turn; it is called after the
	// calls of a step, before the next request. nil means that there are none.
	Steer func() []*transcript.Message
	// Writers returns what writes the summary with which a conversation that outgrows its
	// window goes on (R139); nil means that the conversation is never compacted.
	Writers func() []compaction.Writer
	// NoticeAfter is how long a model may bring nothing before the user is told; 0 means
	// half a minute.
	NoticeAfter time.Duration
	// Tape records how long failed calls wait for another try, or says so from a recording; nil
	// does neither.
	Tape *record.Tape
	// Tracer records how long model calls take (R132); nil means not at all.
	Tracer *trace.Tracer
}

// The defaults of Options.
const (
	defaultMaxSteps   = 200
	defaultConcurrent = 10
)

// Loop runs turns, one at a time.
type Loop struct {
	Options
	digest string
	why    string
	used   int // tokens of the window after the last model call
	meter  compaction.Meter
	tight  int // the fill up to which a compaction is not tried again
}

// New returns a Loop.
func New(o Options) *Loop {
	if o.MaxSteps == 0 {
		o.MaxSteps = defaultMaxSteps
	}
	if o.Concurrent == 0 {
		o.Concurrent = defaultConcurrent
	}
	if o.NoticeAfter == 0 {
		o.NoticeAfter = defaultNoticeAfter
	}
	sum := sha256.Sum256([]byte(o.System))
	return &Loop{Options: o, digest: hex.EncodeToString(sum[:])}
}

// StopReason says why a turn ended, in the words of ACP (R154).
type StopReason string

// The stop reasons.
const (
	EndTurn         StopReason = "end_turn"
	MaxTokens       StopReason = "max_tokens"
	MaxTurnRequests StopReason = "max_turn_requests"
	Refusal         StopReason = "refusal"
	Cancelled       StopReason = "cancelled"
)

// Why says what stopped the last turn when it ended with MaxTurnRequests, as words that
// follow "it was stopped".
func (l *Loop) Why() string { return l.why }

// Turn runs one turn for a user message. It returns Cancelled and no error when
// ctx ended, and an error only when the model failed.
func (l *Loop) Turn(ctx context.Context, prompt *transcript.Message) (StopReason, error) {
	turn := l.IDs.New(transcript.TurnPrefix)
	l.emit(transcript.TurnStarted{TurnID: turn, MessageID: prompt.ID, At: time.Now()})
	l.askAgain(ctx)
	l.emit(transcript.UserSaid{Message: prompt})

	stop, err := l.steps(ctx)
	reason := "finish"
	switch {
	case ctx.Err() != nil:
		stop, err, reason = Cancelled, nil, "abort"
	case err != nil:
		reason = "error"
	case stop == Refusal:
		// The protocol has the client drop this prompt and all that followed;
		// so does the model's view of the conversation.
		l.emit(transcript.TurnWithdrawn{MessageID: prompt.ID})
	}
	l.emit(transcript.TurnFinished{TurnID: turn, Reason: reason})
	return stop, err
}

// askAgain puts to the user again what an earlier process was asking when it ended: a call that
// they allow now runs, and a question is answered, before the model reads the prompt (R141).
func (l *Loop) askAgain(ctx context.Context) {
	waiting := l.Log.Waiting()
	for _, call := range waiting {
		room := l.Tools.Room(l.Window(), l.used, len(waiting))
		prepared := l.Tools.Prepare(pipeline.Call{ID: call.CallID, Name: call.Name, Input: call.Input, Room: room})
		l.Tools.Run(ctx, prepared, transcript.SinkFunc(l.emit))
	}
}

// steps asks the model until it has no more calls.
func (l *Loop) steps(ctx context.Context) (StopReason, error) {
	var guard guard
	for i := range l.MaxSteps {
		if l.Halt != nil {
			if why := l.Halt(); why != "" {
				return l.halted(why)
			}
		}
		if i > 0 {
			l.steer()
		}
		l.remind()
		if err := l.makeRoom(ctx); err != nil {
			return "", err
		}
		step, err := l.askInRoom(ctx)
		if err != nil {
			return "", err
		}
		if len(step.calls) == 0 && l.Continue && step.finish == model.Length {
			l.tell(goOn)
			continue
		}
		if len(step.calls) == 0 {
			return step.stopReason(), nil
		}
		results := l.run(ctx, step)
		if ctx.Err() != nil {
			return Cancelled, nil
		}
		if endsTurn(results) {
			return EndTurn, nil
		}
		if err := guard.check(results); err != nil {
			l.emit(transcript.Notice{Severity: transcript.Warning, Title: "Stopped", Text: err.Error()})
			return l.halted("because " + err.Error())
		}
		if step.finish == model.Refusal {
			return Refusal, nil
		}
	}
	return l.halted(fmt.Sprintf("after %d model calls", l.MaxSteps))
}

func (l *Loop) halted(why string) (StopReason, error) {
	l.why = why
	return MaxTurnRequests, nil
}

// steer puts the user's messages that came during the turn into the conversation.
func (l *Loop) steer() {
	if l.Steer == nil {
		return
	}
	for _, m := range l.Steer() {
		l.emit(transcript.UserSaid{Message: m})
	}
}

// remind tells the model what changed since it was last asked.
func (l *Loop) remind() {
	if l.Remind == nil {
		return
	}
	if parts := l.Remind(); len(parts) > 0 {
		l.tell(parts...)
	}
}

// goOn and goOnBroken are what the model is told after an answer that was cut: by the token
// limit, and by a connection that broke.
var (
	goOn       = said("Your answer was cut by the token limit. Go on exactly where it stopped, without repeating anything.")
	goOnBroken = said("The connection broke in the middle of your answer. Go on exactly where it stopped, without repeating anything. A tool call that was not complete did not run.")
)

func said(text string) *transcript.TextPart {
	return &transcript.TextPart{Text: text, Synthetic: true}
}

// GoesOn reports whether a message is what the model is told after an answer that was
// cut, so that the text before it and the text after it are one.
func GoesOn(m *transcript.Message) bool {
	if m.Role != transcript.User || len(m.Parts) != 1 {
		return false
	}
	text, ok := m.Parts[0].(*transcript.TextPart)
	return ok && text.Synthetic && (text.Text == goOn.Text || text.Text == goOnBroken.Text)
}

// tell adds to the conversation what the agent itself has to say to the model.
func (l *Loop) tell(parts ...transcript.Part) {
	l.emit(transcript.UserSaid{Message: &transcript.Message{
		ID: l.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}})
}

func (l *Loop) emit(e transcript.Event) {
	l.Log.Apply(e)
	l.Sink.Emit(e)
}

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
	// Catalog lists the tools as requests describe them, in a fixed order.
	Catalog() []model.Tool
	// Label returns the id of the tool with a name, and the card of a call whose arguments are not
	// known yet.
	Label(name string) (id string, card kinds.Card)
	// Prepare passes a call through every stage that needs no user and has no effect. It never
	// fails: an error shows when the call runs.
	Prepare(call pipeline.Call) *pipeline.Prepared
	// ModelBytes returns how many bytes each result of a step may have, by the number of its calls, and by
	// the model's window and what is used of it in tokens; 0 means any number.
	ModelBytes(window, used, calls int) int
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
	// System is the system prompt. It is the same in all turns of a session, so that prompt caches
	// hit (R138).
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
	// Continue says that the loop asks for the rest of an answer that the token limit cut, because
	// no user can ask for it (R66).
	Continue bool
	// Halt is called before each model call. It returns why the turn stops, in the form of Why, and
	// "" when the call may be made; nil means that nothing stops the turn.
	Halt func() string
	// Concurrent caps the calls of a batch that run at once; 0 means 10.
	Concurrent int
	// CacheKey and Memo are the conversation's; see model.Request.
	CacheKey string
	Memo     *model.Memo
	// Remind returns what the next request has to add to the conversation; it stays part of the
	// conversation. nil means nothing.
	Remind func() []transcript.Part
	// Steer returns the user's messages that go into the running turn. It is called after the calls
	// of a step, before the next request, and with answered set when the model makes no more calls:
	// what it returns then makes the turn go on. nil means that there are none.
	Steer func(answered bool) []*transcript.Message
	// Ending is called at the end of a turn, before its last event, and reports whether the turn was cancelled; nil
	// means that ctx says so.
	Ending func() (cancelled bool)
	// Writers returns the models that can write the summary of a conversation that outgrows its
	// window (R139); nil means that the conversation is never compacted.
	Writers func() []compaction.Writer
	// NoticeAfter is how long a model may send nothing before the user is notified; 0 means half a
	// minute.
	NoticeAfter time.Duration
	// Tape records how long the loop waits before it tries a failed call again, or has that from a
	// recording; nil does neither.
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
	digest string // of System
	why    string // see Why
	used   int    // tokens of the window after the last model call
	meter  compaction.Meter
	// retryAbove is the fill above which another compaction is tried, after one that did not make the
	// conversation short enough.
	retryAbove int
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

// Why says what stopped the last turn if it ended with MaxTurnRequests, in words that can follow "it was
// stopped".
func (l *Loop) Why() string { return l.why }

// Turn runs one turn for a user message. It returns Cancelled and no error when
// ctx ended, and an error only when the model failed.
func (l *Loop) Turn(ctx context.Context, prompt *transcript.Message) (StopReason, error) {
	turn := l.IDs.New(transcript.TurnPrefix)
	l.emit(transcript.TurnStarted{TurnID: turn, MessageID: prompt.ID, At: time.Now()})
	l.resumeQuestions(ctx)
	l.emit(transcript.UserSaid{Message: prompt})

	stop, err := l.steps(ctx)
	cancelled := ctx.Err() != nil
	if l.Ending != nil {
		cancelled = l.Ending()
	}
	reason := "finish"
	switch {
	case cancelled:
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

// resumeQuestions runs the calls again that waited for the user when an earlier process ended, so that
// the user is asked again, and the model reads their results before the prompt (R141).
func (l *Loop) resumeQuestions(ctx context.Context) {
	waiting, together := l.Log.Waiting(), &pipeline.Step{}
	prepared := make([]*pipeline.Prepared, len(waiting))
	for i, call := range waiting {
		modelBytes := l.Tools.ModelBytes(l.Window(), l.used, len(waiting))
		prepared[i] = l.Tools.Prepare(pipeline.Call{ID: call.CallID, Name: call.Name, Input: call.Input, ModelBytes: modelBytes, Step: together})
	}
	for _, call := range prepared {
		l.Tools.Run(ctx, call, transcript.SinkFunc(l.emit))
	}
}

// steps runs steps until the model makes no more calls, or something ends the turn.
func (l *Loop) steps(ctx context.Context) (StopReason, error) {
	var guard guard
	for i := range l.MaxSteps {
		if l.Halt != nil {
			if why := l.Halt(); why != "" {
				return l.halted(why)
			}
		}
		if i > 0 {
			l.steer(false)
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
			if stop := step.stopReason(); stop != EndTurn || i+1 == l.MaxSteps || !l.steer(true) {
				return stop, nil
			}
			continue
		}
		results := l.runCalls(ctx, step)
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

// halted ends a turn that was stopped.
func (l *Loop) halted(why string) (StopReason, error) {
	l.why = why
	return MaxTurnRequests, nil
}

// steer adds the user's messages to the conversation that go into the running turn, and reports
// whether there are any.
func (l *Loop) steer(answered bool) bool {
	if l.Steer == nil {
		return false
	}
	messages := l.Steer(answered)
	for _, m := range messages {
		l.emit(transcript.UserSaid{Message: m})
	}
	return len(messages) > 0
}

// remind adds to the conversation what Remind returns.
func (l *Loop) remind() {
	if l.Remind == nil {
		return
	}
	if parts := l.Remind(); len(parts) > 0 {
		l.tell(parts...)
	}
}

// goOn asks the model to continue an answer that the token limit cut, goOnBroken one that a broken
// connection cut.
var (
	goOn       = synthetic("Your answer was cut by the token limit. Go on exactly where it stopped, without repeating anything.")
	goOnBroken = synthetic("The connection broke in the middle of your answer. Go on exactly where it stopped, without repeating anything. A tool call that was not complete did not run.")
)

func synthetic(text string) *transcript.TextPart {
	return &transcript.TextPart{Text: text, Synthetic: true}
}

// GoesOn reports whether a message asks the model to continue an answer that was cut. The texts before
// and after such a message are one answer.
func GoesOn(m *transcript.Message) bool {
	if m.Role != transcript.User || len(m.Parts) != 1 {
		return false
	}
	text, ok := m.Parts[0].(*transcript.TextPart)
	return ok && text.Synthetic && (text.Text == goOn.Text || text.Text == goOnBroken.Text)
}

// tell adds a message of the agent itself to the conversation, for the model.
func (l *Loop) tell(parts ...transcript.Part) {
	l.emit(transcript.UserSaid{Message: &transcript.Message{
		ID: l.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}})
}

func (l *Loop) emit(e transcript.Event) {
	l.Log.Apply(e)
	l.Sink.Emit(e)
}

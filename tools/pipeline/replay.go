package pipeline

import (
	"context"
	"encoding/json"
	"errors"

	"acp-agent/tools"
	"acp-agent/transcript"
)

// rerunsInReplay reports whether calls of a tool run again in a replay: they use the session's state alone.
func rerunsInReplay(entry *tools.Entry) bool { return entry != nil && entry.Inward && !entry.Foreign() }

// playPrepared returns a prepared call from its recording.
func (p *Pipeline) playPrepared(call Call) *Prepared {
	c := &Prepared{Call: call, Tool: p.Canonical(call.Name), env: p.env()}
	_, c.Card = p.Label(call.Name)
	var err error
	if c.tape, err = p.Tape.Play(context.Background(), call.Name, call.Input); err != nil {
		c.fault = &tools.Error{Kind: tools.Backend, Message: err.Error(), Err: err}
		return c
	}
	_, data, ok := c.tape.Next()
	var form preparedForm
	if !ok || json.Unmarshal(data, &form) != nil {
		c.fault = tools.Errorf(tools.Backend, "the recording ends before the call")
		return c
	}
	if entry, known := p.Tools().Get(c.Tool); known && rerunsInReplay(entry) && !form.Faulty {
		live := p.prepare(call)
		live.tape = c.tape
		return live
	}
	if e, err := transcript.DecodeEvent(form.Ready); err == nil {
		if ready, ok := e.(transcript.ToolReady); ok {
			c.Tool, c.Args, c.Card = ready.Tool, ready.Args, ready.Card
		}
	}
	c.Malformed, c.serial, c.keys = form.Malformed, form.Serial, form.Keys
	if form.Faulty {
		c.fault = tools.Errorf(tools.Backend, "the recorded call has a fault")
	}
	return c
}

// play plays a call from its recording.
func (p *Pipeline) play(ctx context.Context, c *Prepared, sink transcript.Sink) transcript.ToolFinished {
	r := p.newRunning(c, sink)
	ctx, leave := p.active.enter(ctx, c, r.started)
	defer leave()
	if c.entry != nil {
		r.report(nil)
	}
	end := playback{r}.run(ctx)
	r.sink.Emit(end)
	return end
}

// playback plays one call.
type playback struct{ *running }

// run emits the recorded events, asks the recorded questions, and returns the recorded end. A tool that uses
// the session's state alone runs again.
func (p playback) run(ctx context.Context) transcript.ToolFinished {
	if p.tape == nil {
		return Unrun(p.ID, p.Card, transcript.Failed, p.fault.Message)
	}
	var host *askedAgain
	defer func() { host.end(true) }()
	for name, data, ok := p.tape.Next(); ok; name, data, ok = p.tape.Next() {
		switch name {
		case questionStep:
			p.ask(ctx, data).end(false)
		case hostQuestionStep:
			host = p.ask(ctx, data)
		case hostQuestionOverStep:
			var over hostQuestionOver
			_ = json.Unmarshal(data, &over) // else it was answered
			host.end(over.Withdrawn)
		case jobStep:
			p.pipeline.playJob(p.ID)
		case planLeftStep:
			if modes := p.pipeline.Services.Modes; modes != nil {
				_, _, _ = modes.LeavePlan() // the result is in the recorded end
			}
		case eventStep:
			e, err := transcript.DecodeEvent(data)
			if err != nil {
				continue
			}
			if state, ok := e.(transcript.ToolState); ok && state.State == transcript.InProgress && rerunsInReplay(p.entry) {
				return p.rerun(ctx)
			}
			if end, ok := e.(transcript.ToolFinished); ok {
				end.CallID = p.ID
				p.tape.SkipAnswers(p.pipeline.Workspace.Session().Cwd)
				return end
			}
			p.sink.Emit(withCallID(e, p.ID))
		}
	}
	return Unrun(p.ID, p.Card, transcript.Cancelled, CancelledText) // the recording ends before the end of the call
}

// rerun runs a tool that uses the session's state alone, and returns its end with the recorded duration.
func (p playback) rerun(ctx context.Context) transcript.ToolFinished {
	err := p.execution.execute(ctx)
	if err == nil {
		err = p.ending.render(ctx)
	}
	end := p.end(ctx, err)
	for _, data, ok := p.tape.Next(); ok; _, data, ok = p.tape.Next() {
		if e, err := transcript.DecodeEvent(data); err == nil {
			if recorded, ok := e.(transcript.ToolFinished); ok {
				end.Result.Metadata.DurationMS = recorded.Result.Metadata.DurationMS
				break
			}
		}
	}
	return end
}

// askedAgain is a recorded question that a replay asks. A nil askedAgain is over.
type askedAgain struct {
	withdraw context.CancelFunc
	over     chan struct{} // closed when it is
}

// end waits until the question is over, after it has withdrawn one that the recording has no answer to.
func (a *askedAgain) end(withdrawn bool) {
	if a == nil {
		return
	}
	if withdrawn {
		a.withdraw()
	}
	<-a.over
}

// ask asks a recorded question, on a goroutine that ends with it. It ignores the answer: the recorded events that follow
// depend on the recorded answer.
func (p playback) ask(ctx context.Context, data []byte) *askedAgain {
	var form questionForm
	if json.Unmarshal(data, &form) != nil || p.pipeline.Asker == nil {
		return nil
	}
	request, ok := form.request()
	if !ok {
		return nil
	}
	request.CallID, request.Ready.CallID = p.ID, p.ID
	ctx, cancel := context.WithCancel(ctx)
	asked := &askedAgain{cancel, make(chan struct{})}
	go func() {
		defer close(asked.over)
		defer cancel()
		defer p.pipeline.Session.AwaitUser(ctx)()
		asking, leave, err := p.pipeline.Queue.Enter(ctx, p.ID)
		if err != nil {
			return
		}
		defer leave()
		if _, err := p.pipeline.Asker.Ask(asking, request); err != nil && !errors.Is(err, context.Canceled) {
			p.pipeline.Logger.Debug("a recorded question was not answered", "error", err.Error())
		}
	}()
	return asked
}

// withCallID returns an event of the recorded call as an event of the call with the given id.
func withCallID(e transcript.Event, id string) transcript.Event {
	switch e := e.(type) {
	case transcript.ToolState:
		e.CallID = id
		return e
	case transcript.ToolOutput:
		e.CallID = id
		return e
	case transcript.ToolTerminal:
		e.CallID = id
		return e
	case transcript.ToolCard:
		e.CallID = id
		return e
	}
	return e
}

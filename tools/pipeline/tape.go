package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"acp-agent/internal/record"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// The steps of a recorded call.
const (
	preparedStep = "prepared"
	eventStep    = "event"
	questionStep = "question"
	planLeftStep = "plan left"
)

// preparedForm is what a recording keeps of a call that was prepared.
type preparedForm struct {
	Ready     json.RawMessage
	Malformed bool                `json:",omitempty"`
	Serial    bool                `json:",omitempty"`
	Faulty    bool                `json:",omitempty"`
	Keys      []tools.ResourceKey `json:",omitempty"`
}

// questionForm is a permission request in a recording.
type questionForm struct {
	tools.PermissionRequest
	Ready json.RawMessage
}

// recordPrepared starts the record of a call.
func (p *Pipeline) recordPrepared(c *Prepared) {
	c.tape = p.Tape.Start(c.Name, c.Input)
	ready, err := transcript.EncodeEvent(transcript.ToolReady{CallID: c.ID, Tool: c.Tool, Args: c.Args, Card: c.Card})
	if err != nil {
		p.Logger.Warn("a call is not recorded", "call_id", c.ID, "error", err.Error())
	}
	data, err := json.Marshal(preparedForm{Ready: ready, Malformed: c.Malformed, Serial: c.serial, Faulty: c.fault != nil, Keys: c.keys})
	if err == nil {
		c.tape.Step(preparedStep, data)
	}
}

// playPrepared prepares a call as it was recorded.
func (p *Pipeline) playPrepared(call Call) *Prepared {
	c := &Prepared{Call: call, Tool: p.Canonical(call.Name), env: p.Workspace.Session().Env}
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
	if entry, known := p.Tools().Get(c.Tool); known && entry.Inward && !entry.Foreign() && !form.Faulty {
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

// inward reports whether the call is made again when a recording is played.
func (c *Prepared) inward() bool { return c.entry != nil && c.entry.Inward && !c.entry.Foreign() }

// recordedSink records the events of a call on their way. Of a call that is made again when the
// recording is played, it records only how it came to run and how it ended.
type recordedSink struct {
	transcript.Sink
	call *Prepared
	ran  *atomic.Bool
}

// Emit implements transcript.Sink.
func (s recordedSink) Emit(e transcript.Event) {
	state, isState := e.(transcript.ToolState)
	_, ended := e.(transcript.ToolFinished)
	if !s.call.inward() || ended || !s.ran.Load() {
		if data, err := transcript.EncodeEvent(e); err == nil {
			s.call.tape.Step(eventStep, data)
		}
	}
	if isState && state.State == transcript.InProgress {
		s.ran.Store(true)
	}
	s.Sink.Emit(e)
}

// recorded is a sink with a record of the call; it is sink itself where nothing is recorded.
func (c *Prepared) recorded(sink transcript.Sink) transcript.Sink {
	if c.tape == nil {
		return sink
	}
	return recordedSink{sink, c, new(atomic.Bool)}
}

// question puts a permission request to the user.
func (r *running) question(ctx context.Context, request tools.PermissionRequest) (tools.Answer, error) {
	if r.tape != nil {
		ready, err := transcript.EncodeEvent(request.Ready)
		data, broken := json.Marshal(questionForm{request, ready})
		if err == nil && broken == nil {
			r.tape.Step(questionStep, data)
		}
	}
	return r.pipeline.Asker.Ask(ctx, request)
}

// recordedModes records that a call left plan mode.
type recordedModes struct {
	tools.Modes
	call *record.Call
}

// LeavePlan implements tools.Modes.
func (m recordedModes) LeavePlan() (mode, told string, err error) {
	m.call.Step(planLeftStep, []byte("{}"))
	return m.Modes.LeavePlan()
}

// play takes a call through what its recording has: its events, and the questions that it put
// to the user. What uses the state of the session alone is done again.
func (p *Pipeline) play(ctx context.Context, c *Prepared, sink transcript.Sink) transcript.ToolFinished {
	r := &running{Prepared: c, pipeline: p, started: time.Now(), card: c.Card}
	ctx, leave := p.active.enter(ctx, c, r.started)
	defer leave()
	r.sink = sink
	if c.entry != nil {
		r.sink = &reporter{running: r, next: sink}
	}
	if c.tape == nil {
		return r.emitEnd(Unrun(c.ID, c.Card, transcript.Failed, c.fault.Message))
	}
	for name, data, ok := c.tape.Next(); ok; name, data, ok = c.tape.Next() {
		switch name {
		case questionStep:
			r.playQuestion(ctx, data)
		case planLeftStep:
			if p.Services.Modes != nil {
				_, _, _ = p.Services.Modes.LeavePlan() // what came of it is recorded
			}
		case eventStep:
			e, err := transcript.DecodeEvent(data)
			if err != nil {
				continue
			}
			if state, ok := e.(transcript.ToolState); ok && state.State == transcript.InProgress && c.inward() {
				return r.emitEnd(r.playAgain(ctx))
			}
			if end, ok := e.(transcript.ToolFinished); ok {
				end.CallID = c.ID
				return r.emitEnd(end)
			}
			r.sink.Emit(retargeted(e, c.ID))
		}
	}
	return r.emitEnd(Unrun(c.ID, c.Card, transcript.Cancelled, CancelledText)) // the recording ends here
}

// emitEnd emits the end of a call.
func (r *running) emitEnd(end transcript.ToolFinished) transcript.ToolFinished {
	r.sink.Emit(end)
	return end
}

// playAgain makes a call that uses the state of the session alone.
func (r *running) playAgain(ctx context.Context) transcript.ToolFinished {
	err := r.execute(ctx)
	if err == nil {
		err = r.render(ctx)
	}
	if r.runtime != nil {
		r.runtime.Finish()
	}
	end := r.redacted(r.finish(ctx, err))
	for _, data, ok := r.tape.Next(); ok; _, data, ok = r.tape.Next() {
		if e, err := transcript.DecodeEvent(data); err == nil {
			if recorded, ok := e.(transcript.ToolFinished); ok {
				end.Result.Metadata.DurationMS = recorded.Result.Metadata.DurationMS
				break
			}
		}
	}
	return end
}

// playQuestion puts a recorded question to the user, whose answer is recorded, too: what came
// of it follows.
func (r *running) playQuestion(ctx context.Context, data []byte) {
	var form questionForm
	if json.Unmarshal(data, &form) != nil || r.pipeline.Asker == nil {
		return
	}
	e, err := transcript.DecodeEvent(form.Ready)
	ready, ok := e.(transcript.ToolReady)
	if err != nil || !ok {
		return
	}
	request := form.PermissionRequest
	request.CallID, request.Ready = r.ID, ready
	request.Ready.CallID = r.ID
	defer r.pipeline.Session.AwaitUser(ctx)()
	asking, leave, err := r.pipeline.Line.Enter(ctx, r.ID)
	if err != nil {
		return
	}
	defer leave()
	if _, err := r.pipeline.Asker.Ask(asking, request); err != nil && !errors.Is(err, context.Canceled) {
		r.pipeline.Logger.Debug("a recorded question was not answered", "error", err.Error())
	}
}

// retargeted is an event of a recorded call as one of the call that is played.
func retargeted(e transcript.Event, id string) transcript.Event {
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

package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"acp-agent/internal/record"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// recordPrepared starts the recording of a call.
func (p *Pipeline) recordPrepared(c *Prepared) {
	c.tape = p.Tape.Start(c.Name, c.Input)
	ready, err := transcript.EncodeEvent(transcript.ToolReady{CallID: c.ID, Tool: c.Tool, Args: c.Args, Card: c.Card})
	if err != nil {
		// The rest is recorded all the same: the replay needs to know which calls ran concurrently.
		p.Logger.Warn("the arguments and the card of a call are not recorded", "call_id", c.ID, "error", err.Error())
	}
	data, err := json.Marshal(preparedForm{Ready: ready, Malformed: c.Malformed, Serial: c.serial, Faulty: c.fault != nil, Keys: c.keys})
	if err == nil {
		c.tape.Step(preparedStep, data)
	}
}

// recordedSink records the events of a call before it passes them on. For a call that runs again in a
// replay, it records only the events before the tool runs and the end.
type recordedSink struct {
	transcript.Sink
	call *Prepared
	ran  *atomic.Bool
}

// Emit implements transcript.Sink.
func (s recordedSink) Emit(e transcript.Event) {
	state, isState := e.(transcript.ToolState)
	_, ended := e.(transcript.ToolFinished)
	if !rerunsInReplay(s.call.entry) || ended || !s.ran.Load() {
		if data, err := transcript.EncodeEvent(e); err == nil {
			s.call.tape.Step(eventStep, data)
		}
	}
	if isState && state.State == transcript.InProgress {
		s.ran.Store(true)
	}
	s.Sink.Emit(e)
}

// recorded returns a sink that records the call and passes its events to sink; it is sink itself when nothing
// is recorded.
func (c *Prepared) recorded(sink transcript.Sink) transcript.Sink {
	if c.tape == nil {
		return sink
	}
	return recordedSink{sink, c, new(atomic.Bool)}
}

// recordQuestion records a permission request, if the call is recorded.
func (s *sharedState) recordQuestion(step string, request tools.PermissionRequest) {
	if s.tape == nil {
		return
	}
	form, err := formOf(request)
	if err != nil {
		return
	}
	if data, err := json.Marshal(form); err == nil {
		s.tape.Step(step, data)
	}
}

// recordHostQuestionOver records that a question about a host is over, if the call is recorded. ctx is that of the question.
func (s *sharedState) recordHostQuestionOver(ctx context.Context) {
	if s.tape == nil {
		return
	}
	over := hostQuestionOver{ctx.Err() != nil && !errors.Is(context.Cause(ctx), tools.ErrWithdrawn)}
	if data, err := json.Marshal(over); err == nil {
		s.tape.Step(hostQuestionOverStep, data)
	}
}

// recordedModes records that a call left plan mode.
type recordedModes struct {
	tools.Modes
	call *record.Call
}

// LeavePlan implements tools.Modes.
func (m recordedModes) LeavePlan() (mode, notice string, err error) {
	m.call.Step(planLeftStep, []byte("{}"))
	return m.Modes.LeavePlan()
}

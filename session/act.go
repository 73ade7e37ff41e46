package session

import (
	"context"
	"encoding/json"

	"acp-agent/internal/record"
	"acp-agent/tools"
	"acp-agent/transcript"
)

// act is the record of a command that reaches outside of the session: what it emitted, asked and
// answered. When a recording is played, that is done in its place. A nil act records nothing.
type act struct{ call *record.Call }

// The steps of an act.
const (
	emittedStep  = "emitted"  // an event
	recordedStep = "recorded" // an event that is part of the transcript
	notedStep    = "noted"    // an event of the transcript that is not emitted
	askedStep    = "asked"
	answerStep   = "answer"
)

// answer is what a command answers.
func (s *Session) answer(ctx context.Context, c typedCommand) (text string) {
	tape := s.host.Tape
	switch {
	case tape == nil:
	case c.outside && !c.isDuring():
		s.perform(ctx, "/"+c.name, c.rest, &text, func() { text = c.answer(ctx, s, c.rest) })
		return text
	case c.outside || c.varies:
		if !tape.Plays() || c.varies {
			text = c.answer(ctx, s, c.rest)
		}
		return record.Value(tape, "answer of "+s.ID, "/"+c.name+" "+c.rest, func() string { return text })
	}
	return c.answer(ctx, s, c.rest)
}

// preparePrompt makes a stage of a turn that makes something else of the prompt, with what it
// reads outside of the session.
func (s *Session) preparePrompt(t *Turn, stage string, make func() string) (text string) {
	if s.host.Tape == nil {
		return make()
	}
	var now promptForm
	s.perform(t.ctx, stage, t.prompt.ID, &now, func() {
		now.Text = make()
		now.Message, _ = transcript.EncodeMessage(t.prompt) // its parts have a form
	})
	if m, err := transcript.DecodeMessage(now.Message); err == nil && s.host.Tape.Plays() {
		t.prompt.Parts = m.Parts
	}
	return now.Text
}

// promptForm is a prompt after a stage, and what the stage says of it.
type promptForm struct {
	Text    string
	Message json.RawMessage
}

// perform runs what reaches outside of the session and leaves a result, with a record of what it
// emits and asks. When a recording is played, that happens in its place.
func (s *Session) perform(ctx context.Context, name, input string, result any, run func()) {
	if s.host.Tape.Plays() {
		s.playAct(ctx, name, input, result)
		return
	}
	a := &act{s.host.Tape.Start(name, input)}
	s.conversation.act.Store(a)
	run()
	s.conversation.act.Store(nil)
	a.step(answerStep, result)
	a.call.Return()
}

func (a *act) step(name string, value any) {
	if data, err := json.Marshal(value); err == nil {
		a.call.Step(name, data)
	}
}

// emitted records an event; kept says that it is part of the transcript.
func (a *act) emitted(e transcript.Event, kept bool) {
	name := emittedStep
	if kept {
		name = recordedStep
	}
	a.event(name, e)
}

func (a *act) noted(e transcript.Event) { a.event(notedStep, e) }

func (a *act) event(name string, e transcript.Event) {
	if a == nil {
		return
	}
	if data, err := transcript.EncodeEvent(e); err == nil {
		a.call.Step(name, data)
	}
}

// askedForm is a question of a command in a recording.
type askedForm struct {
	tools.PermissionRequest
	Ready json.RawMessage
}

// question puts a command's question to the user.
func (s *Session) question(ctx context.Context, request tools.PermissionRequest) (tools.Answer, error) {
	if a := s.conversation.act.Load(); a != nil {
		if ready, err := transcript.EncodeEvent(request.Ready); err == nil {
			a.step(askedStep, askedForm{request, ready})
		}
	}
	return s.spec.Asker.Ask(ctx, request)
}

// playAct does what was recorded, and returns its result.
func (s *Session) playAct(ctx context.Context, name, input string, result any) {
	call, err := s.host.Tape.Play(ctx, name, input)
	if err != nil {
		return // the replay is over
	}
	for name, data, ok := call.Next(); ok; name, data, ok = call.Next() {
		switch name {
		case answerStep:
			if err := json.Unmarshal(data, result); err != nil {
				s.host.Logger.Warn("a recorded result cannot be read", "error", err.Error())
			}
			return
		case askedStep:
			s.playQuestion(ctx, data)
		default:
			s.playEvent(name, data)
		}
	}
}

func (s *Session) playEvent(name string, data []byte) {
	s.host.Tape.Took(data)
	e, err := transcript.DecodeEvent(data)
	if err != nil {
		s.host.Logger.Warn("a recorded event cannot be played", "error", err.Error())
		return
	}
	switch name {
	case emittedStep:
		s.conversation.pass(e)
	case recordedStep:
		s.conversation.record(e)
	case notedStep:
		s.conversation.note(e)
	}
}

// playQuestion puts a recorded question, whose answer is recorded, too.
func (s *Session) playQuestion(ctx context.Context, data []byte) {
	var form askedForm
	if json.Unmarshal(data, &form) != nil || s.spec.Asker == nil {
		return
	}
	if e, err := transcript.DecodeEvent(form.Ready); err == nil {
		request := form.PermissionRequest
		request.Ready, _ = e.(transcript.ToolReady)
		if string(request.Ready.Args) == "null" { // as JSON has it
			request.Ready.Args = nil
		}
		_, _ = s.spec.Asker.Ask(ctx, request) // what came of it follows
	}
}

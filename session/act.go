package session

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"

	"acp-agent/internal/record"
	"acp-agent/loop"
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

// performer runs what reaches outside of a session, a slash command or a stage of a turn, with a
// record of what that emits and asks. When a recording is played, that happens in its place.
// It also puts the questions of commands to the user; own_question.go.
type performer struct {
	sessionID    string
	conversation *conversation
	asker        tools.Asker  // nil where no user is there
	tape         *record.Tape // nil records nothing
	logger       *slog.Logger
}

// answer is what a command answers, which run makes.
func (p *performer) answer(ctx context.Context, c typedCommand, run func() string) (text string) {
	switch {
	case p.tape == nil:
	case c.outside && !c.isDuring():
		p.perform(ctx, "/"+c.name, c.rest, &text, func() { text = run() })
		return text
	case c.outside || c.varies:
		if !p.tape.Plays() || c.varies {
			text = run()
		}
		return record.Value(p.tape, "answer of "+p.sessionID, "/"+c.name+" "+c.rest, func() string { return text })
	}
	return run()
}

// replyDuring answers a command while a turn runs. The answer is one event without a turn of its
// own, whose end would be taken for the end of the other.
func (p *performer) replyDuring(prompt *transcript.Message, answer func() string) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil { // it ends this prompt, not the process
			p.logger.Error("command panicked", "session", p.sessionID, "stack", string(debug.Stack()))
			stop, err = "", fmt.Errorf("the command failed inside the agent: %v", v)
		}
	}()
	p.conversation.noteAside(prompt)
	p.conversation.say(answer())
	return loop.EndTurn, nil
}

// preparePrompt makes a stage of a turn that makes something else of the prompt, with what it
// reads outside of the session.
func (p *performer) preparePrompt(t *Turn, stage string, make func() string) (text string) {
	if p.tape == nil {
		return make()
	}
	var now promptForm
	p.perform(t.ctx, stage, t.prompt.ID, &now, func() {
		now.Text = make()
		now.Message, _ = transcript.EncodeMessage(t.prompt) // its parts have a form
	})
	if m, err := transcript.DecodeMessage(now.Message); err == nil && p.tape.Plays() {
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
func (p *performer) perform(ctx context.Context, name, input string, result any, run func()) {
	if p.tape.Plays() {
		p.playAct(ctx, name, input, result)
		return
	}
	a := &act{p.tape.Start(name, input)}
	p.conversation.act.Store(a)
	run()
	p.conversation.act.Store(nil)
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
func (p *performer) question(ctx context.Context, request tools.PermissionRequest) (tools.Answer, error) {
	if a := p.conversation.act.Load(); a != nil {
		if ready, err := transcript.EncodeEvent(request.Ready); err == nil {
			a.step(askedStep, askedForm{request, ready})
		}
	}
	return p.asker.Ask(ctx, request)
}

// playAct does what was recorded, and returns its result.
func (p *performer) playAct(ctx context.Context, name, input string, result any) {
	call, err := p.tape.Play(ctx, name, input)
	if err != nil {
		return // the replay is over
	}
	for name, data, ok := call.Next(); ok; name, data, ok = call.Next() {
		switch name {
		case answerStep:
			if err := json.Unmarshal(data, result); err != nil {
				p.logger.Warn("a recorded result cannot be read", "error", err.Error())
			}
			return
		case askedStep:
			p.playQuestion(ctx, data)
		default:
			p.playEvent(name, data)
		}
	}
}

func (p *performer) playEvent(name string, data []byte) {
	p.tape.Took(data)
	e, err := transcript.DecodeEvent(data)
	if err != nil {
		p.logger.Warn("a recorded event cannot be played", "error", err.Error())
		return
	}
	switch name {
	case emittedStep:
		p.conversation.pass(e)
	case recordedStep:
		p.conversation.record(e)
	case notedStep:
		p.conversation.note(e)
	}
}

// playQuestion puts a recorded question, whose answer is recorded, too.
func (p *performer) playQuestion(ctx context.Context, data []byte) {
	var form askedForm
	if json.Unmarshal(data, &form) != nil || p.asker == nil {
		return
	}
	if e, err := transcript.DecodeEvent(form.Ready); err == nil {
		request := form.PermissionRequest
		request.Ready, _ = e.(transcript.ToolReady)
		if string(request.Ready.Args) == "null" { // as JSON has it
			request.Ready.Args = nil
		}
		_, _ = p.asker.Ask(ctx, request) // what came of it follows
	}
}

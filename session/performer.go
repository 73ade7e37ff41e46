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

// performer runs slash commands and stages of a turn that reach outside of the session, and records
// what they emit, ask and answer. In a replay it emits and asks what was recorded instead of running
// them. It also puts the questions of commands to the user; command_question.go.
type performer struct {
	cwd          string
	conversation *conversation
	asker        tools.Asker  // nil where no user is there
	tape         *record.Tape // nil records nothing
	logger       *slog.Logger
}

// act is what a recording keeps of one run of the performer: what it emitted, asked and answered. A
// nil act records nothing.
type act struct{ call *record.Call }

// The steps of an act.
const (
	emittedStep  = "emitted"  // an event
	recordedStep = "recorded" // an event that is part of the transcript
	notedStep    = "noted"    // an event of the transcript that is not emitted
	askedStep    = "asked"
	answerStep   = "answer"
)

// answer returns the answer of a command, which run makes. In a replay a command that reaches outside
// does not run; one whose answer varies runs for its effect on the session, such as a stopped
// subagent, and the recorded answer takes the place of its own.
func (p *performer) answer(ctx context.Context, c typedCommand, run func() string) (text string) {
	switch {
	case p.tape == nil:
	case c.outside && !c.isDuring():
		p.perform(ctx, "/"+c.name, c.rest, &text, func() { text = run() })
		return text
	case c.outside || c.varies:
		p.tape.Reach("command", p.conversation.sessionID)
		if p.tape.Plays() && c.varies {
			_ = run()
		}
		return record.Await(p.tape, "answer of "+p.conversation.sessionID, "/"+c.name+" "+c.rest, run)
	}
	return run()
}

// replyDuring answers a command while a turn runs. The answer is one event without a turn of its
// own, whose end would be taken for the end of the other.
func (p *performer) replyDuring(prompt *transcript.Message, answer func() string) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil { // it ends this prompt, not the process
			p.logger.Error("command panicked", "session", p.conversation.sessionID, "stack", string(debug.Stack()))
			stop, err = "", fmt.Errorf("the command failed inside the agent: %v", v)
		}
	}()
	p.conversation.noteAside(prompt)
	p.conversation.say(answer())
	return loop.EndTurn, nil
}

// preparePrompt runs a stage of a turn that changes the prompt by what it reads outside of the session,
// and returns what the stage returns.
func (p *performer) preparePrompt(t *Turn, stage string, run func() string) (text string) {
	if p.tape == nil {
		return run()
	}
	var now promptForm
	p.perform(t.ctx, stage, p.conversation.sessionID+" "+t.prompt.Text(), &now, func() {
		now.Text = run()
		now.Message, _ = transcript.EncodeMessage(t.prompt) // its parts have a form
	})
	if m, err := transcript.DecodeMessage(now.Message); err == nil && p.tape.Plays() {
		t.prompt.Parts = m.Parts
	}
	return now.Text
}

// promptForm is how a recording keeps a prompt after a stage, and what the stage returned.
type promptForm struct {
	Text    string
	Message json.RawMessage
}

// perform runs run, which sets result. name and input tell the runs of a recording apart.
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

// askedForm is how a recording keeps a question of a command.
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
		// Until the answer the command emits nothing: what comes now is of others, and they do it again.
		p.conversation.act.Store(nil)
		defer p.conversation.act.Store(a)
	}
	return p.asker.Ask(ctx, request)
}

// playAct emits and asks what was recorded of a run, and sets its result.
func (p *performer) playAct(ctx context.Context, name, input string, result any) {
	call, err := p.tape.Play(ctx, name, input)
	if err != nil {
		return // the replay is over
	}
	for name, data, ok := call.Next(); ok; name, data, ok = call.Next() {
		switch name {
		case answerStep:
			call.SkipAnswers(p.cwd) // tools that it brought up to date are still to be told
			call.SkipIDs()
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
	p.tape.SkipIDsIn(data)
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

// playQuestion puts a recorded question to the user. What followed from the answer is recorded, too.
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
		_, _ = p.asker.Ask(ctx, request) // its effect follows in the recording
	}
}

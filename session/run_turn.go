package session

import (
	"context"
	"fmt"
	"runtime/debug"

	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// runningTurn is a turn on its way through its stages.
type runningTurn struct {
	*Turn
	backend Backend
	chosen  choice
	// over says that the turn has ended with stop, and that no other stage runs.
	over bool
	stop loop.StopReason
}

// end ends the turn.
func (r *runningTurn) end(stop loop.StopReason) { r.over, r.stop = true, stop }

// endIfCancelled ends the turn when it was cancelled.
func (r *runningTurn) endIfCancelled() {
	if r.ctx.Err() != nil {
		r.end(loop.Cancelled)
	}
}

// turnStages are what happens in a turn, in order. A stage that ends the turn, or fails, is
// the last one.
func (s *Session) turnStages() []func(*runningTurn) error {
	return []func(*runningTurn) error{
		s.addMessage,         // a message of the agent itself is only added to the conversation
		s.skipCancelled,      // a prompt that was cancelled while it waited is noted, and not run
		s.refreshRules,       // the rules of the project, and whether the user trusts it
		s.answerCommand,      // a slash command is answered without the model
		s.expandPrompt,       // a prompt of an MCP server takes the place of its command
		s.awaitMode,          // a mode that waits for the sandbox is decided
		s.dropSecrets,        // embedded files that hold secrets are taken out
		s.nameSession,        // the first prompt gives the title
		s.notifyOfProblems,   // what of the configuration and the sources cannot be used
		s.readMentions,       // resources of MCP servers that the prompt mentions are read
		s.chooseBackend,      // the model server, the model, and whether it takes images
		s.noteHosts,          // hosts that the user named may be fetched from
		s.addCheckpoint,      // what follows can be taken back to this message
		s.runLoop,            // model, tool calls, model, until there are no more calls
		s.settleSubagents,    // those in the background are named; of a cancelled turn, they end
		s.generateFirstTitle, // a model gives a better title, after the answer
	}
}

// runTurn runs one turn. Whatever goes wrong in it ends the turn, not the process.
func (s *Session) runTurn(t *Turn) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil {
			stop, err = "", s.turnPanicked(v)
		}
	}()
	s.save()
	defer s.save()
	r := &runningTurn{Turn: t}
	for _, stage := range s.turnStages() {
		if err := stage(r); err != nil || r.over {
			return r.stop, err
		}
	}
	return r.stop, nil
}

// turnPanicked closes what a panic left open.
func (s *Session) turnPanicked(v any) error {
	s.host.Logger.Error("turn panicked", "session", s.ID, "stack", string(debug.Stack()))
	for _, id := range s.conversation.log.OpenCalls() {
		s.conversation.record(pipeline.Unrun(id, kinds.Neutral(""), transcript.Failed, "the turn failed inside the agent"))
	}
	s.conversation.emit(transcript.TurnFinished{Reason: "error"})
	return fmt.Errorf("the turn failed inside the agent: %v", v)
}

// addMessage adds a message of the agent itself to the conversation, and shows its text to
// the user.
func (s *Session) addMessage(r *runningTurn) error {
	m := r.synthetic
	if m == nil {
		return nil
	}
	select {
	case <-m.after:
	case <-s.life.ctx.Done():
	}
	shown := m.text
	if shown != "" {
		shown += "\n\n"
		if s.spec.Waits { // no prompt follows in which the model reports it
			shown = m.message.Text()
		}
		m.message.Parts = append(m.message.Parts, &transcript.TextPart{ID: s.host.IDs.New(transcript.PartPrefix), Text: shown, Replaced: true})
	}
	s.conversation.record(transcript.AgentSaid{Message: m.message})
	r.end(loop.EndTurn)
	return nil
}

func (s *Session) skipCancelled(r *runningTurn) error {
	if r.endIfCancelled(); r.over {
		s.conversation.note(transcript.UserSaid{Message: r.prompt})
	}
	return nil
}

func (s *Session) refreshRules(*runningTurn) error {
	s.rules.project.refresh()
	return nil
}

func (s *Session) answerCommand(r *runningTurn) error {
	c, ok := commandOf(r.prompt)
	if !ok {
		return nil
	}
	if !c.isDuring() {
		defer s.conversation.activity.prepare("the answer to /" + c.name)()
	}
	s.conversation.reply(r.ctx, r.prompt, func(ctx context.Context) string { return s.answer(ctx, c) })
	r.end(loop.EndTurn)
	r.endIfCancelled()
	return nil
}

func (s *Session) expandPrompt(r *runningTurn) error {
	done := s.conversation.activity.prepare("what the command stands for")
	refusal := s.performer.preparePrompt(r.Turn, "expand", func() string { return s.expand(r.Turn) })
	done()
	if r.endIfCancelled(); !r.over && refusal != "" {
		s.conversation.reply(r.ctx, r.prompt, func(context.Context) string { return refusal })
		r.end(loop.EndTurn)
	}
	return nil
}

func (s *Session) awaitMode(r *runningTurn) error {
	defer s.conversation.activity.prepare("the trial of the sandbox")()
	s.choices.awaitMode(r.ctx)
	return nil
}

func (s *Session) dropSecrets(r *runningTurn) error {
	s.dropSecretAttachments(r.prompt)
	return nil
}

func (s *Session) nameSession(r *runningTurn) error {
	s.conversation.naming.fromPrompt(r.prompt)
	return nil
}

func (s *Session) notifyOfProblems(r *runningTurn) error {
	s.emitStartupNotices()
	defer s.conversation.activity.prepare("the sources of tools")()
	s.sources.refresh(r.ctx)
	if r.ctx.Err() == nil {
		s.sources.notifyProblems()
	}
	return nil
}

func (s *Session) chooseBackend(r *runningTurn) (err error) {
	if r.backend, err = s.host.Backend(); err != nil {
		s.conversation.note(transcript.UserSaid{Message: r.prompt})
		return err
	}
	s.choices.setBackend(r.backend)
	r.chosen = s.choices.get()
	s.checkImages(r.Turn, r.backend, r.chosen.model)
	return nil
}

func (s *Session) addCheckpoint(r *runningTurn) error {
	s.checkpoints.add(r.ctx, r.prompt)
	return nil
}

func (s *Session) noteHosts(r *runningTurn) error {
	s.conversation.nameHosts(hostsIn(r.prompt))
	return nil
}

func (s *Session) runLoop(r *runningTurn) error {
	ctx, span := s.host.Tracer.Turn(r.ctx, r.prompt.ID, s.agents.manifest.Name)
	log := s.conversation.log
	turn, first := s.loop(ctx, r.backend, r.chosen), len(log.Messages()) == 0
	s.conversation.put(beganKey, s.briefing.began)
	turn.Steer = func() []*transcript.Message { return s.steered(r) }
	s.briefing.remindTurn(r.prompt, log, turn.Window())
	s.conversation.markEarly(r.prompt)
	stop, err := turn.Turn(ctx, r.prompt)
	err = s.overflowed(err, turn.Window(), first)
	span.Finish(string(stop))
	span.End(err)
	r.stop = stop
	if err != nil {
		s.endTurnForSubagents(r.ctx, stop)
	}
	return err
}

func (s *Session) settleSubagents(r *runningTurn) error {
	r.stop = s.endTurnForSubagents(r.ctx, r.stop)
	return nil
}

func (s *Session) generateFirstTitle(r *runningTurn) error {
	if r.stop == loop.EndTurn {
		s.conversation.naming.afterTurn(r.Turn)
	}
	return nil
}

// replyDuring answers a command while another turn runs. The answer is one event without a
// turn of its own, whose end would be taken for the end of the other.
func (s *Session) replyDuring(ctx context.Context, prompt *transcript.Message, c typedCommand) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil { // it ends this prompt, not the process
			s.host.Logger.Error("command panicked", "session", s.ID, "stack", string(debug.Stack()))
			stop, err = "", fmt.Errorf("the command failed inside the agent: %v", v)
		}
	}()
	s.conversation.noteAside(prompt)
	s.conversation.say(s.answer(ctx, c))
	return loop.EndTurn, nil
}

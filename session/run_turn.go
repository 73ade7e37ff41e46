package session

import (
	"context"
	"fmt"
	"runtime/debug"

	"acp-agent/internal/record"
	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/tools/pipeline"
	"acp-agent/transcript"
)

// turnRunner runs the turns of a session, one at a time. It has the parts that a turn needs.
type turnRunner struct {
	opened
	conversation *conversation
	choices      *choices
	project      *project
	sources      *sources
	prompts      *promptReader
	agents       *agents
	assembler    *assembler
	checkpoints  *checkpoints
	notices      startupNotices
	// answer answers a slash command.
	answer func(ctx context.Context, c typedCommand) string
	// save stores what the user chose and allowed.
	save func()
}

// runningTurn is a turn that runs. Its stages are methods.
type runningTurn struct {
	*turnRunner
	*Turn
	backend Backend
	chosen  choice
	// over says that the turn ends with reason, and that no further stage runs.
	over   bool
	reason loop.StopReason
	// questions are those about hosts; nil before letServersAsk.
	questions *askingTurn
}

// endWith ends the turn.
func (r *runningTurn) endWith(reason loop.StopReason) { r.over, r.reason = true, reason }

// endIfCancelled ends the turn when it was cancelled.
func (r *runningTurn) endIfCancelled() {
	if record.Look(r.host.Tape, "cancelled", r.ID, func() bool { return r.ctx.Err() != nil }) {
		r.endWith(loop.Cancelled)
	}
}

// stages are what happens in a turn, in order. A stage that ends the turn, or fails, is the last
// one.
func (r *runningTurn) stages() []func() error {
	return []func() error{
		r.addMessage,         // a message of the agent itself is only added to the conversation
		r.skipCancelled,      // a prompt that was cancelled while it waited is noted, and not run
		r.refreshRules,       // the rules of the project, and whether the user trusts it
		r.answerCommand,      // a slash command is answered without the model
		r.letServersAsk,      // the user is asked about hosts that MCP servers reach for
		r.expandPrompt,       // a prompt of an MCP server takes the place of its command
		r.awaitMode,          // a mode that waits for the sandbox is decided
		r.dropSecrets,        // embedded files that hold secrets are taken out
		r.nameSession,        // the first prompt gives the title
		r.notifyOfProblems,   // what of the configuration and the sources cannot be used
		r.readMentions,       // resources of MCP servers that the prompt mentions are read
		r.chooseBackend,      // the model server, the model, and whether it takes images
		r.noteHosts,          // hosts that the user named may be fetched from
		r.addCheckpoint,      // what follows can be taken back to this message
		r.runLoop,            // model, tool calls, model, until there are no more calls
		r.nameBackground,     // subagents and jobs that go on are named; subagents of a cancelled turn end
		r.generateFirstTitle, // a model gives a better title, after the answer
	}
}

// run runs one turn. Whatever goes wrong in it ends the turn, not the process.
func (r *turnRunner) run(t *Turn) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil {
			stop, err = "", r.panicked(v)
		}
	}()
	r.save()
	defer r.save()
	running := &runningTurn{turnRunner: r, Turn: t}
	defer func() {
		if running.questions != nil {
			running.questions.end()
		}
	}()
	for _, stage := range running.stages() {
		if err := stage(); err != nil || running.over {
			return running.reason, err
		}
	}
	return running.reason, nil
}

// panicked ends the calls and the turn that a panic left open.
func (r *turnRunner) panicked(v any) error {
	r.host.Logger.Error("turn panicked", "session", r.ID, "stack", string(debug.Stack()))
	for _, id := range r.conversation.log.OpenCalls() {
		r.conversation.record(pipeline.Unrun(id, kinds.Neutral(""), transcript.Failed, "the turn failed inside the agent"))
	}
	r.conversation.emit(transcript.TurnFinished{Reason: "error"})
	return fmt.Errorf("the turn failed inside the agent: %v", v)
}

// addMessage runs the turn of a message of the agent itself.
func (r *runningTurn) addMessage() error {
	m := r.synthetic
	if m == nil {
		return nil
	}
	select {
	case <-m.after:
	case <-r.life.ctx.Done():
	}
	r.addSynthetic(m)
	r.endWith(loop.EndTurn)
	return nil
}

// addSynthetic adds a message of the agent itself to the conversation, and shows its text to the user.
func (r *runningTurn) addSynthetic(m *synthetic) {
	if m.stale != nil && record.Value(r.host.Tape, "stale", r.ID, m.stale) {
		return
	}
	shown := m.text
	if shown != "" {
		shown += "\n\n"
		if r.spec.Waits { // no prompt follows in which the model reports it
			shown = m.message.Text()
		}
		m.message.Parts = append(m.message.Parts, &transcript.TextPart{ID: r.host.IDs.New(transcript.PartPrefix), Text: shown, Replaced: true})
	}
	r.conversation.record(transcript.AgentSaid{Message: m.message})
}

func (r *runningTurn) skipCancelled() error {
	if r.endIfCancelled(); r.over {
		r.conversation.note(transcript.UserSaid{Message: r.prompt})
	}
	return nil
}

func (r *runningTurn) refreshRules() error {
	r.project.refresh()
	return nil
}

func (r *runningTurn) answerCommand() error {
	c, ok := commandOf(r.prompt)
	if !ok {
		return nil
	}
	if !c.isDuring() {
		defer r.conversation.activity.prepare("the answer to /" + c.name)()
	}
	r.conversation.reply(r.ctx, r.prompt, func(ctx context.Context) string { return r.answer(ctx, c) })
	r.endWith(loop.EndTurn)
	r.endIfCancelled()
	return nil
}

func (r *runningTurn) letServersAsk() error {
	r.questions = r.sources.servers.letAsk(r.ctx)
	return nil
}

func (r *runningTurn) expandPrompt() error {
	done := r.conversation.activity.prepare("what the command stands for")
	refusal := r.prompts.expand(r.Turn)
	done()
	if r.endIfCancelled(); !r.over && refusal != "" {
		r.conversation.reply(r.ctx, r.prompt, func(context.Context) string { return refusal })
		r.endWith(loop.EndTurn)
	}
	return nil
}

func (r *runningTurn) awaitMode() error {
	defer r.conversation.activity.prepare("the trial of the sandbox")()
	r.choices.modes.await(r.ctx)
	return nil
}

func (r *runningTurn) dropSecrets() error {
	r.prompts.dropSecretAttachments(r.prompt)
	return nil
}

func (r *runningTurn) nameSession() error {
	r.conversation.naming.fromPrompt(r.prompt)
	return nil
}

func (r *runningTurn) notifyOfProblems() error {
	r.notices.emit(r.conversation.notices)
	defer r.conversation.activity.prepare("the sources of tools")()
	r.sources.refresh(r.ctx)
	if r.ctx.Err() == nil {
		r.sources.notifyProblems()
	}
	return nil
}

func (r *runningTurn) readMentions() error {
	r.prompts.readMentions(r.Turn)
	return nil
}

func (r *runningTurn) chooseBackend() (err error) {
	if r.backend, err = r.host.Backend(); err != nil {
		r.conversation.note(transcript.UserSaid{Message: r.prompt})
		return err
	}
	r.choices.models.setServer(r.backend)
	r.chosen = r.choices.get()
	r.prompts.checkImages(r.Turn, r.backend, r.chosen.model)
	return nil
}

func (r *runningTurn) noteHosts() error {
	r.conversation.nameHosts(hostsIn(r.prompt))
	return nil
}

func (r *runningTurn) addCheckpoint() error {
	r.checkpoints.add(r.ctx, r.prompt)
	return nil
}

func (r *runningTurn) runLoop() error {
	ctx, span := r.host.Tracer.Turn(r.ctx, r.prompt.ID, r.agents.manifest.Name)
	log := r.conversation.log
	turn, first := r.assembler.loop(ctx, r.backend, r.chosen), len(log.Messages()) == 0
	r.conversation.archive.put(beganKey, r.assembler.briefing.began)
	turn.Steer = func(answered bool) []*transcript.Message {
		if answered {
			return r.readSteered(r.awaitInjected())
		}
		r.host.Tape.Reach("steering", r.ID)
		for _, m := range r.queue.popEarly() {
			r.addSynthetic(m)
		}
		return r.readSteered(r.queue.popSteered(r.choices.get().queue == queueSteer))
	}
	turn.Ending = func() bool {
		r.questions.end()
		r.host.Tape.Reach("end of a turn", r.ID)
		return ctx.Err() != nil
	}
	r.assembler.briefing.remindTurn(r.prompt, log, turn.Window())
	r.conversation.markEarly(r.prompt)
	stop, err := turn.Turn(ctx, r.prompt)
	err = overflowed(err, turn.Window(), first, r.spec.Asker != nil)
	span.Finish(string(stop))
	span.End(err)
	r.reason = stop
	if err != nil {
		r.endWithBackground(stop)
	}
	return err
}

// awaitInjected waits until no question about a host is open, and removes the injected messages from the queue.
// Without any, the turn takes no more messages and no more questions.
func (r *runningTurn) awaitInjected() []*Turn {
	r.questions.awaitAnswers()
	r.host.Tape.Reach("steering", r.ID)
	injected := r.queue.popInjected()
	if len(injected) > 0 {
		r.questions.resume()
	}
	return injected
}

func (r *runningTurn) nameBackground() error {
	r.reason = r.endWithBackground(r.reason)
	return nil
}

func (r *runningTurn) generateFirstTitle() error {
	if r.reason == loop.EndTurn {
		r.conversation.naming.afterTurn(r.Turn)
	}
	return nil
}

package session

import (
	"context"
	"time"

	"acp-agent/loop"
	"acp-agent/mcp"
	"acp-agent/sandbox"
	"acp-agent/subagent"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// Session is one live conversation in one directory. Its methods are safe for concurrent use.
//
// Each field is a part with its own file and tests, and with its own lock where it needs one. No part
// has a reference to the session. The parts come together here, in open.go, which makes them, in
// run_turn.go, which lists the stages of a turn, and in commands.go, where each command takes the parts
// that it needs. Besides the methods here, steer.go has those for prompts during a turn, call.go those for
// single tool calls, commands.go the list of commands, and stored.go what a resumed session shows.
type Session struct {
	opened
	conversation *conversation // what was said, its titles, and every event; conversation.go
	turns        *turnQueue    // the prompts that wait; queue.go
	choices      *choices      // mode, model, options; choices.go
	rules        *ruleBook     // trust and permission rules; project.go, rules.go
	sources      *sources      // where tools come from; sources.go
	prompts      *promptReader // what the model reads of a prompt, and commands from files; prompt_reader.go
	agents       *agents       // the main agent and its subagents; agents.go
	assembler    *assembler    // loops, pipelines and prompts of agents; assemble.go, briefing.go
	checkpoints  *checkpoints  // what undo takes back; checkpoints.go
	performer    *performer    // commands that reach outside, and their questions; performer.go
}

// opened is what a session was opened with, and what Open has opened for it. It does not change after
// that, so that each part may have a copy.
type opened struct {
	// ID is unique and opaque.
	ID string

	host     *Host
	spec     Spec
	settings Settings
	stored   bool                 // the session is resumed
	secrets  secrets              // which files are not read; secrets.go
	life     *lifetime            // its context and goroutines; lifetime.go
	work     *workspace.Workspace // its files and processes
}

// Close cancels what runs, ends what is queued, and frees the resources of the session; it returns when
// that is done. grace is how long processes have between TERM and KILL (R149).
func (s *Session) Close(grace time.Duration) {
	s.Stop()
	s.turns.wait()
	s.life.wait()
	s.agents.tree.Close()
	s.assembler.jobs.close()
	s.sources.close()
	s.work.Close(grace)
	if err := s.rules.audit.Close(); err != nil {
		s.host.Logger.Warn("the audit cannot be closed", "session", s.ID, "error", err.Error())
	}
	s.conversation.archive.close()
	s.life.span.End(nil)
}

// Stop is the part of Close that does not wait: it cancels what runs and ends what is queued,
// and nothing starts after it.
func (s *Session) Stop() {
	s.turns.close()
	s.life.end(ErrClosed)
	s.agents.tree.Abort()
}

// Busy reports whether a turn runs or waits. A turn that has ended counts no more, also while its answer is on
// its way.
func (s *Session) Busy() bool { return s.turns.busy() }

// Context ends when the session is closed.
func (s *Session) Context() context.Context { return s.life.ctx }

// Start starts the background work that follows the answer to session/new: it asks the model server
// about its models, and starts the sources of tools.
func (s *Session) Start() {
	s.sources.startAll()
	s.choices.models.learn(s.choices.get().model)
	s.choices.modes.announceSandbox()
}

// Prompt accepts a prompt. It runs at once when the session is idle. Otherwise it waits its turn, or goes
// into the running turn if the user has chosen that (R143); a command may be answered during the running
// turn. Prompt never blocks, so that a cancel right after it finds the turn.
func (s *Session) Prompt(parts []transcript.Part) *Turn {
	t := s.newTurn(parts)
	s.turns.add(t)
	s.announceQueued(t)
	return t
}

func (s *Session) newTurn(parts []transcript.Part) *Turn {
	t := &Turn{number: s.turns.accepted.Add(1), prompt: &transcript.Message{
		ID: s.host.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}}
	if c, ok := commandOf(t.prompt); ok && c.isDuring() {
		t.during = func(ctx context.Context) (loop.StopReason, error) {
			return s.performer.replyDuring(t.prompt, func() string { return s.answer(ctx, c) })
		}
	}
	t.steers = !s.prompts.isCommand(t.prompt)
	return t
}

// Cancel ends the running turn and all subagents (R67); queued prompts stay, and so do commands
// in the background. When no turn is running it ends the subagents in the background, and affects
// nothing that comes later.
func (s *Session) Cancel() { s.turns.cancelCurrent() }

// CancelCall ends one tool call, of whatever agent, and leaves its turn alone (R126); if the
// call has spawned a subagent or started a job, it ends that, also in the background. It reports
// whether there was something to end.
func (s *Session) CancelCall(id string) bool {
	s.host.Tape.Reach("cancel of a call", s.ID)
	return s.agents.tree.CancelCall(id) || s.agents.tools.Cancel(id) || s.assembler.jobs.cancelCall(id)
}

// Modes lists the modes that the session offers (R157).
func (s *Session) Modes() []Mode { return s.choices.modes.list() }

// Mode returns the current mode's id.
func (s *Session) Mode() string { return string(s.choices.modes.now()) }

// SetMode changes the mode: questions follow from the next tool call on, tools from the next
// model request on, and a running turn goes on.
func (s *Session) SetMode(id string) error { return s.SetOption(ModeOption, id) }

// Options lists the options with their current values.
func (s *Session) Options() []Option { return s.choices.options() }

// SetOption changes one option. It neither blocks nor emits anything: the caller announces
// the change where it is in order, once Decide has returned.
func (s *Session) SetOption(id, value string) error {
	err := s.choices.setOption(id, value)
	s.save()
	return err
}

// Decide waits until a choice that SetOption accepted is decided, because the mode auto depends on the
// trial of the sandbox. Its error says why the choice is not possible.
func (s *Session) Decide(ctx context.Context, option, value string) error {
	if option != ModeOption {
		return nil
	}
	return s.choices.modes.decide(ctx, value)
}

// AwaitMode waits for the trial of the sandbox, which decides which modes there are and whether a session
// whose configured mode is auto starts in it.
func (s *Session) AwaitMode(ctx context.Context) error { return s.choices.modes.awaitSandbox(ctx) }

// AdmitModel adds a model to the options that the server may not list.
func (s *Session) AdmitModel(id string) { s.choices.models.admit(id) }

// Sandbox says how the session's processes are confined, once that is known.
func (s *Session) Sandbox() (report sandbox.Report, known bool) { return s.host.Sandbox.Known() }

// TrustOffer reads the project's content and returns what trust in it would allow. It runs nothing. An
// error says why the project cannot be trusted.
func (s *Session) TrustOffer() (TrustOffer, error) { return s.rules.project.trustOffer() }

// Trust stores that the user trusts the project with the content of the offer. When the content has
// changed since, that is an error, and nothing is trusted.
func (s *Session) Trust(offer TrustOffer) error { return s.rules.project.trust(offer) }

// Rules lists the rules in force: first the rules that the user's answers added, with numbers,
// then the others, the strongest scope first.
func (s *Session) Rules() []ListedRule { return s.rules.rules() }

// Revoke removes a rule that an answer of the user added. It is given as Rules listed it.
func (s *Session) Revoke(listed ListedRule) error { return s.rules.revoke(listed) }

// Tasks lists the subagents of the session, in the order of their requests.
func (s *Session) Tasks() []transcript.ChildRecord { return s.agents.tree.Records() }

// Rest waits until no subagent runs and the results of those in the background are in the conversation
// (R68), or until ctx ends.
func (s *Session) Rest(ctx context.Context) {
	for ctx.Err() == nil && s.agents.tree.ActiveCount() > 0 { // one that ends may leave others
		s.agents.tree.WaitAll(ctx)
	}
	for t := s.turns.last(); t != nil; t = s.turns.last() {
		select {
		case <-t.released:
		case <-ctx.Done():
			return
		case <-s.life.ctx.Done():
			return
		}
	}
}

// Agents returns the manifests in force now: those of the project only while the user trusts
// it as it is.
func (s *Session) Agents() *subagent.Catalog { return s.agents.manifests() }

// Servers returns the state of the MCP servers.
func (s *Session) Servers() []mcp.Status { return s.sources.servers.Status() }

// AwaitTools asks the modules and scripts, connects to the external providers and, with servers, to the
// MCP servers. It waits until each has answered or failed, or ctx ends, and adopts their tools. Do not
// call it during a turn: its tools must not change (R91).
func (s *Session) AwaitTools(ctx context.Context, servers bool) { s.sources.await(ctx, servers) }

// AwaitServers connects to the MCP servers, waits until each has been reached or has failed, or ctx
// ends, and adopts their tools. Do not call it during a turn: its tools must not change (R91).
func (s *Session) AwaitServers(ctx context.Context) { s.sources.awaitServers(ctx) }

// AwaitLists waits, after AwaitServers, until each server has also listed its prompts and
// resources, or has failed to, or ctx ends.
func (s *Session) AwaitLists(ctx context.Context) { s.sources.servers.AwaitLists(ctx) }

// SignIn lets the user sign in to an MCP server by its name, within five minutes. show shows the user an
// address, with a message that names its host. After SignIn, Servers has the new state of the server.
func (s *Session) SignIn(ctx context.Context, name string, show func(ctx context.Context, message, address string) (done func(), err error)) error {
	return s.sources.servers.signIn(ctx, name, show)
}

// SignOut forgets the user's token of an MCP server; had says whether there was one.
func (s *Session) SignOut(ctx context.Context, name string) (had bool, err error) {
	return s.sources.servers.signOut(ctx, name)
}

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
// holds the session. What they do together stands here, in open.go, which makes them, in run_turn.go,
// which lists the stages of a turn, and in commands.go, which says what each command needs of them.
type Session struct {
	opened
	conversation *conversation // what was said, its titles, and every event; conversation.go
	turns        *turnQueue    // the prompts that wait; queue.go
	choices      *choices      // mode, model, options; choices.go
	rules        *ruleBook     // trust and permission rules; project.go, rules.go
	sources      *sources      // where tools come from; sources.go
	prompts      *promptReader // what the model reads of a prompt, and commands from files; prompt_reader.go
	agents       *agents       // the main agent and its subagents; agents.go
	assembler    *assembler    // what agents run with and are told; assemble.go, briefing.go
	checkpoints  *checkpoints  // what undo takes back; checkpoints.go
	performer    *performer    // commands that reach outside, and their questions; act.go
}

// opened is what a session was opened with and what was opened for it. It does not change, so
// that each part may have a copy.
type opened struct {
	// ID is unique and opaque.
	ID string

	host     *Host
	spec     Spec
	settings Settings
	stored   bool                 // it is a stored session that goes on
	secrets  secrets              // which files are not read; secrets.go
	life     *lifetime            // its context and goroutines; lifetime.go
	work     *workspace.Workspace // its files and processes
}

// Close cancels what runs, ends what is queued, and frees what the session holds; it returns
// when that is done. grace is how long processes have between TERM and KILL (R149).
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

// Busy reports whether a turn runs or waits.
func (s *Session) Busy() bool { return s.turns.last() != nil }

// Context ends when the session is closed.
func (s *Session) Context() context.Context { return s.life.ctx }

// Start does what follows the answer to session/new, in the background: it asks the model
// server about its models, once for all sessions, and starts the sources of tools.
func (s *Session) Start() {
	s.sources.startAll()
	s.choices.models.learn(s.choices.get().model)
	s.choices.modes.announceSandbox()
}

// Prompt accepts a prompt: it runs at once when the session is idle and waits its turn
// otherwise, or goes into the running turn where the user wants that (R143), unless it is a
// command that is answered during the running turn. It never blocks, so a cancel that arrives
// right after it finds it.
func (s *Session) Prompt(parts []transcript.Part) *Turn {
	t := &Turn{prompt: &transcript.Message{
		ID: s.host.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}}
	if c, ok := commandOf(t.prompt); ok && c.isDuring() {
		t.during = func(ctx context.Context) (loop.StopReason, error) {
			return s.performer.replyDuring(t.prompt, func() string { return s.answer(ctx, c) })
		}
	}
	t.steers = !s.prompts.isCommand(t.prompt)
	s.turns.add(t)
	s.announceQueued(t)
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
func (s *Session) Options() []Option { return s.choices.Options() }

// SetOption changes one option. It neither blocks nor emits anything: the caller announces
// the change where it is in order, once Decide has returned.
func (s *Session) SetOption(id, value string) error {
	err := s.choices.SetOption(id, value)
	s.save()
	return err
}

// Decide waits until a choice that SetOption took is decided: that of the mode auto depends
// on the trial of the sandbox. Its error says why the choice cannot be had.
func (s *Session) Decide(ctx context.Context, option, value string) error {
	if option != ModeOption {
		return nil
	}
	return s.choices.modes.decide(ctx, value)
}

// AwaitMode waits until it is known how processes are confined, and with it which modes there
// are and whether a session whose configured mode is auto starts in it.
func (s *Session) AwaitMode(ctx context.Context) error { return s.choices.modes.awaitSandbox(ctx) }

// ModePending reports whether the mode depends on what AwaitMode waits for.
func (s *Session) ModePending() bool { return s.choices.modes.undecided() }

// AdmitModel makes a model selectable that the server may not list.
func (s *Session) AdmitModel(id string) { s.choices.models.admit(id) }

// Sandbox says how the session's processes are confined, once that is known.
func (s *Session) Sandbox() (report sandbox.Report, known bool) { return s.host.Sandbox.Known() }

// TrustOffer reads what there is to trust now. It runs nothing. An error says why the project
// cannot be trusted.
func (s *Session) TrustOffer() (TrustOffer, error) { return s.rules.project.trustOffer() }

// Trust stores that the user trusts the project with the content that the offer showed. When
// it changed meanwhile that is an error, and nothing is trusted.
func (s *Session) Trust(offer TrustOffer) error { return s.rules.project.trust(offer) }

// Rules lists the rules in force: first the rules that the user's answers added, with numbers,
// then the others, the strongest scope first.
func (s *Session) Rules() []ListedRule { return s.rules.rules() }

// Revoke removes a rule that an answer of the user added. It is given as Rules listed it.
func (s *Session) Revoke(listed ListedRule) error { return s.rules.revoke(listed) }

// Agents returns the manifests in force now: those of the project only while the user trusts
// it as it is.
func (s *Session) Agents() *subagent.Catalog { return s.agents.manifests() }

// Servers says how the MCP servers stand.
func (s *Session) Servers() []mcp.Status { return s.sources.servers.Status() }

// AwaitTools asks the modules and scripts, reaches for the external providers, and with
// servers for the MCP servers, and waits until each has answered or has failed, or ctx ends;
// then their tools are there. It is not for use during a turn, within which the tools do not
// change (R91).
func (s *Session) AwaitTools(ctx context.Context, servers bool) { s.sources.await(ctx, servers) }

// AwaitServers connects to the MCP servers and waits until each has been reached or has
// failed, or ctx ends; then their tools are there. It is not for use during a turn, within
// which the tools do not change (R91).
func (s *Session) AwaitServers(ctx context.Context) { s.sources.awaitServers(ctx) }

// AwaitLists waits, after AwaitServers, until each server has also listed its prompts and
// resources, or has failed to, or ctx ends.
func (s *Session) AwaitLists(ctx context.Context) { s.sources.servers.AwaitLists(ctx) }

// SignIn lets the user sign in to an MCP server by its name, within five minutes. show opens
// an address for the user, whose host message names, and returns once the user has it. After
// it Servers says how the server stands.
func (s *Session) SignIn(ctx context.Context, name string, show func(ctx context.Context, message, address string) (done func(), err error)) error {
	return s.sources.servers.signIn(ctx, name, show)
}

// SignOut forgets the user's token of an MCP server; had says whether there was one.
func (s *Session) SignOut(ctx context.Context, name string) (had bool, err error) {
	return s.sources.servers.signOut(ctx, name)
}

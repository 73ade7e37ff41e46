package session

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"acp-agent/audit"
	"acp-agent/internal/trace"
	"acp-agent/kinds"
	"acp-agent/loop"
	"acp-agent/mcp"
	"acp-agent/model"
	"acp-agent/permissions"
	"acp-agent/sandbox"
	"acp-agent/subagent"
	"acp-agent/tools"
	"acp-agent/tools/pipeline"
	"acp-agent/tools/provider"
	"acp-agent/transcript"
	"acp-agent/workspace"
)

// Session is one live conversation in one directory. Its methods are safe for
// concurrent use.
type Session struct {
	// ID is unique and opaque.
	ID string

	host     *Host
	spec     Spec
	settings Settings

	work    *workspace.Workspace
	policy  *pipeline.Policy
	project *project
	rules   *ruleBook
	tools   *pipeline.Pipeline
	family  *subagent.Tree
	node    *subagent.Node // the main agent's
	log     *transcript.Log
	memo    model.Memo
	audit   *audit.Log // nil when none is kept
	told    told
	secrets secrets

	languages    languages
	providers    *provider.Service
	servers      *mcp.Manager
	connecting   sync.Mutex // held while servers are set; the project's mu is taken within
	serving      bool       // guarded by connecting
	adopted      []int      // the generations of the sources' tools; guarded by mu
	modePolicies atomic.Pointer[modePolicies]
	sandboxFound bool              // it was known at the start how processes are confined
	manifest     subagent.Manifest // of the main agent
	agents       agents
	environment  subagent.Environment
	system       string
	span         *trace.Span
	life         *lifetime
	turns        *turnQueue
	choices      *choices
	notices      *notices

	mu       sync.Mutex // guards what follows
	titled   bool
	retitled bool // a model was asked for the title
	usage    spent
	context  transcript.UsageChanged
	fullness fullness
	askedAt  time.Time // when questions were written into the chat that no prompt has answered
}

// Open makes a session. Of the project it reads its skills and instructions; it
// asks no server. What is missing of the configuration is an error here, so
// that the editor shows it before the person has typed anything.
func (h *Host) Open(ctx context.Context, spec Spec) (*Session, error) {
	backend, err := h.Backend()
	if err != nil {
		return nil, err
	}
	settings, offer, err := h.configure(spec.Cwd)
	if err != nil {
		return nil, err
	}
	s := &Session{
		ID: h.IDs.New(transcript.SessionPrefix), host: h, spec: spec, settings: settings,
		log: transcript.NewLog(),
	}
	_, s.sandboxFound = h.Sandbox.Known()
	live, span := h.Tracer.Session(context.WithoutCancel(ctx), s.ID)
	s.life, s.span = newLifetime(live), span
	s.notices = newNotices(s.emit)
	s.choices = newChoices(choiceOptions{
		life: s.life, sandbox: h.Sandbox, catalogue: &h.catalogue, emit: s.emit, notices: s.notices, modeChanged: func() { s.project.applyMode() },
		writable: slices.Concat([]string{spec.Cwd}, spec.Additional, settings.WriteRoots), own: slices.Concat(h.Own, []string{h.Home}),
	}, settings.Mode, backend)
	if s.secrets, err = newSecrets(h, settings); err != nil {
		return nil, err
	}
	s.told = h.learnContext(ctx, spec, s.secrets.holds)
	if s.work, err = workspace.New(s.workspaceOptions()); err != nil {
		// Its directories are the client's choice.
		return nil, &tools.Error{Kind: tools.BadInput, Message: err.Error(), Err: err}
	}
	s.secrets.tracked.in(s.work, slices.Concat([]string{spec.Cwd}, spec.Additional))
	s.modePolicies.Store(newModePolicies(h.Registry.All(), s.work.Session().Scratch))
	s.languages = newLanguages(s.work, h.Languages)
	s.providers = s.newProviders()
	s.servers = s.newServers()
	s.adopted = make([]int, len(s.sources()))
	s.audit = s.openAudit()
	s.policy = pipeline.NewPolicy(permissions.Set{}.With(permissions.User, settings.Rules.User...).With(permissions.Session, spec.Rules...))
	s.project = newProject(projectOptions{
		dir: s.work.Session().Cwd, store: h.Projects, configure: func() (Settings, projectOffer, error) { return h.configure(spec.Cwd) },
		rules: settings.Rules.Project, policy: s.policy, mode: s.choices.enforced, trustChanged: s.applyTrust,
	}, offer)
	s.project.refresh()
	s.rules = &ruleBook{
		project: s.project, agents: &s.agents, policy: s.policy, registry: h.Registry, audit: s.audit,
		identity: func(tool string) permissions.Identity { return s.tools.Identity(tool) },
		mode:     func() permissions.Mode { return s.choices.get().mode },
	}
	if err := s.chooseAgent(); err != nil {
		s.work.Close(0)
		return nil, err
	}
	s.newFamily()
	if s.tools, err = s.pipeline(); err != nil {
		s.work.Close(0)
		return nil, err
	}
	s.node.SetTools(s.tools)
	s.environment = subagent.Environment{
		Cwd: s.work.Session().Cwd, Additional: s.additional(),
		OS: runtime.GOOS + "/" + runtime.GOARCH, Shell: h.Shell, Date: time.Now(),
		Instructions: s.told.instructions.Text, Skills: s.told.skills.Prompt(),
	}
	s.turns = newTurnQueue(s.life.ctx, s.runTurn, s.family.Abort)
	return s, nil
}

// Close cancels what runs, ends what is queued, and frees what the session
// holds; it returns when that is done. grace is how long processes have between
// TERM and KILL (R149).
func (s *Session) Close(grace time.Duration) {
	s.Stop()
	s.turns.wait()
	s.life.wait()
	s.family.Close()
	s.languages.Close()
	s.providers.Close()
	s.servers.Close()
	s.work.Close(grace)
	s.closeAudit()
	s.span.End(nil)
}

// Stop is the part of Close that does not wait: it cancels what runs and ends
// what is queued, and nothing begins after it.
func (s *Session) Stop() {
	s.turns.close()
	s.life.end(ErrClosed)
	s.family.Abort()
}

// Context ends when the session is closed.
func (s *Session) Context() context.Context { return s.life.ctx }

// Start does what follows the answer to session/new: it learns what the server
// knows of its models, and which tools those scripts have that describe themselves, both
// behind the scenes and once for all sessions, and connects to the MCP servers and the
// external providers.
func (s *Session) Start() {
	s.beginAll()
	s.choices.learn(s.choices.get().model)
	if !s.sandboxFound {
		s.choices.announceSandbox()
	}
}

// runTurn runs one turn. Whatever goes wrong in it ends the turn, not the
// process.
func (s *Session) runTurn(t *Turn) (stop loop.StopReason, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.host.Logger.Error("turn panicked", "session", s.ID, "stack", string(debug.Stack()))
			for _, id := range s.log.OpenCalls() {
				end := pipeline.Unrun(id, kinds.Neutral(""), transcript.Failed, "the turn failed inside the agent")
				s.log.Apply(end)
				s.emit(end)
			}
			s.emit(transcript.TurnFinished{Reason: "error"})
			stop, err = "", fmt.Errorf("the turn failed inside the agent: %v", v)
		}
	}()
	if t.synthetic != nil {
		return s.addSynthetic(t.synthetic), nil
	}
	if t.ctx.Err() != nil {
		s.log.Apply(transcript.UserSaid{Message: t.prompt})
		return loop.Cancelled, nil
	}
	s.project.refresh()
	if c, ok := commandOf(t.prompt); ok {
		s.reply(t.ctx, t.prompt, func(ctx context.Context) string { return c.answer(ctx, s, c.rest) })
		if t.ctx.Err() != nil {
			return loop.Cancelled, nil
		}
		return loop.EndTurn, nil
	}
	if refusal := s.expand(t); t.ctx.Err() != nil {
		return loop.Cancelled, nil
	} else if refusal != "" {
		s.reply(t.ctx, t.prompt, func(context.Context) string { return refusal })
		return loop.EndTurn, nil
	}
	s.choices.awaitMode(t.ctx)
	s.withhold(t.prompt)
	s.introduce(t.prompt)
	s.refreshTools(t.ctx)
	if t.ctx.Err() == nil {
		s.sayProblems()
	}
	s.readMentions(t)
	backend, err := s.host.Backend()
	if err != nil {
		s.log.Apply(transcript.UserSaid{Message: t.prompt})
		return "", err
	}
	s.choices.setBackend(backend)
	chosen := s.choices.get()
	s.checkImages(t, backend, chosen.model)
	s.nameHosts(hostsIn(t.prompt))
	ctx, span := s.host.Tracer.Turn(t.ctx, t.prompt.ID, s.manifest.Name)
	turn, first := s.loop(ctx, backend, chosen), len(s.log.Messages()) == 0
	s.remindTurn(t.prompt, turn.Window())
	s.markEarly(t.prompt)
	stop, err = turn.Turn(ctx, t.prompt)
	err = s.overflowed(err, turn.Window(), first)
	span.Finish(string(stop))
	span.End(err)
	if settled := s.settleFamily(t.ctx, stop); err == nil {
		stop = settled
	}
	if err == nil && stop == loop.EndTurn {
		s.retitle(t)
	}
	return stop, err
}

// Prompt accepts a prompt: it runs at once when the session is idle and waits
// its turn otherwise (R143), unless it is a command that is answered during the
// running turn. It never blocks, so a cancel that arrives right after it finds it.
func (s *Session) Prompt(parts []transcript.Part) *Turn {
	t := &Turn{prompt: &transcript.Message{
		ID: s.host.IDs.New(transcript.MessagePrefix), Role: transcript.User, Created: time.Now(), Parts: parts,
	}}
	if c, ok := commandOf(t.prompt); ok && c.isDuring() {
		t.during = func(ctx context.Context) (loop.StopReason, error) { return s.replyDuring(ctx, c) }
	}
	return s.turns.add(t)
}

// Modes lists the modes that the session offers (R157).
func (s *Session) Modes() []Mode { return s.choices.Modes() }

// Mode returns the current mode's id.
func (s *Session) Mode() string { return s.choices.Mode() }

// SetMode changes the mode: questions follow from the next tool call on, tools from the next
// model request on, and a running turn goes on.
func (s *Session) SetMode(id string) error { return s.choices.SetOption(ModeOption, id) }

// Options lists the options with their current values.
func (s *Session) Options() []Option { return s.choices.Options() }

// SetOption changes one option. It neither blocks nor emits anything: the caller announces
// the change where it is in order, once Decide has returned.
func (s *Session) SetOption(id, value string) error { return s.choices.SetOption(id, value) }

// Decide waits until a choice that SetOption took is decided: that of the mode auto depends
// on the trial of the sandbox. Its error says why the choice cannot be had.
func (s *Session) Decide(ctx context.Context, option, value string) error {
	return s.choices.Decide(ctx, option, value)
}

// AwaitMode waits until it is known how processes are confined, and with it which modes there
// are and whether a session whose configured mode is auto starts in it.
func (s *Session) AwaitMode(ctx context.Context) error { return s.choices.AwaitMode(ctx) }

// ModePending reports whether the mode depends on what AwaitMode waits for.
func (s *Session) ModePending() bool { return s.choices.ModePending() }

// AdmitModel makes a model selectable that the server may not list.
func (s *Session) AdmitModel(id string) { s.choices.AdmitModel(id) }

// Sandbox says how the session's processes are confined, once that is known.
func (s *Session) Sandbox() (report sandbox.Report, known bool) { return s.host.Sandbox.Known() }

// TrustOffer reads what there is to trust now. It runs nothing. An error says why
// the project cannot be trusted.
func (s *Session) TrustOffer() (TrustOffer, error) { return s.project.trustOffer() }

// Trust stores that the user trusts the project with the content that the offer showed. When
// it changed meanwhile that is an error, and nothing is trusted.
func (s *Session) Trust(offer TrustOffer) error { return s.project.trust(offer) }

// Rules lists the rules in force: first those that the user's answers added, with numbers,
// then the others, the strongest scope first.
func (s *Session) Rules() []ListedRule { return s.rules.rules() }

// Revoke removes a rule that an answer of the user added. It is given as Rules listed it.
func (s *Session) Revoke(listed ListedRule) error { return s.rules.revoke(listed) }

// Cancel ends the running turn and all subagents (R67); queued prompts stay. When no
// turn is running it ends what runs in the background, and nothing that comes later is
// affected.
func (s *Session) Cancel() { s.turns.cancelCurrent() }

// addSynthetic adds a message of the agent itself to the conversation, and shows its text to
// the user.
func (s *Session) addSynthetic(m *synthetic) loop.StopReason {
	select {
	case <-m.after:
	case <-s.life.ctx.Done():
	}
	s.log.Apply(transcript.AgentSaid{Message: m.message})
	switch {
	case m.text == "":
	case s.spec.Waits: // no prompt follows in which the model tells of it
		s.tell(m.message.ID, m.message.Text())
	default:
		s.tell(m.message.ID, m.text+"\n\n")
	}
	return loop.EndTurn
}

// additional returns the directories beside the first that belong to the
// session, canonical.
func (s *Session) additional() []string { return s.work.Session().Roots[1:] }
